/* The hash of the sources, which binding.gyp computes: addons that call each other by internal tables have to be of one build. Apart,
 * because all that is compiled with a new hash is compiled anew. */
#ifndef SB_BUILD
# define SB_BUILD "?"
#endif

extern const char sb__build[];
const char sb__build[] = SB_BUILD;
