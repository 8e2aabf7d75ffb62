# What docs/install.md shows of a single executable application.
esbuild app.js --bundle --platform=node --outfile=bundle.js
node --experimental-sea-config sea.json
cp "$(node -p process.execPath)" app
postject app NODE_SEA_BLOB app.blob --sentinel-fuse NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2
