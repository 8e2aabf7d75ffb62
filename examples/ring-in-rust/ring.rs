// A ring of samebytes in Rust, by the standard library alone; docs/ring-protocol.md has the protocol.
//
//   ring write NAME COUNT    writes frames of int32 whose elements are all the frame's index
//   ring read NAME COUNT     reads up to that frame, and says how many were whole, torn, and lost
use std::fs::{self, OpenOptions};
use std::os::unix::io::AsRawFd;
use std::sync::atomic::{fence, AtomicU64, Ordering::SeqCst};
use std::{env, io, process, ptr};

// Of the C library, which the standard library is linked with.
extern "C" {
    fn mmap(at: *mut u8, n: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
    fn syscall(number: i64, ...) -> i64;
    fn kill(process: i32, signal: i32) -> i32;
}
#[cfg(target_arch = "x86_64")]
const FUTEX: i64 = 202;
#[cfg(target_arch = "aarch64")]
const FUTEX: i64 = 98;
const WAIT: i32 = 0;
const WAKE: i32 = 1;

const MAGIC: u64 = 0x33676e69722d6273; // "sb-ring3"
const SLOTS: u64 = 1;
const BYTES: u64 = 2;
const WRITER: u64 = 3;
const NAMESPACE: u64 = 4;
const READERS: u64 = 5;
const COUNT: u64 = 8;
const FIRST: u64 = 16;
const TICKS: u64 = 100; // a second, of start times in /proc

struct Ring {
    frames: *mut u8,
    words: *const AtomicU64,
    slots: u64,
    bytes: u64,
}

fn failed<T>(text: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Other, text))
}

// The data of a .npy file, and its bytes.
fn mapped(path: &str) -> io::Result<(*mut u8, u64)> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let n = file.metadata()?.len() as usize;
    let map = unsafe { mmap(ptr::null_mut(), n, 3, 1, file.as_raw_fd(), 0) };
    if map as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    if n < 12 || unsafe { std::slice::from_raw_parts(map, 6) } != b"\x93NUMPY" {
        return failed("this is no .npy file");
    }
    let at = |i: usize| unsafe { *map.add(i) } as usize;
    let short = at(8) | at(9) << 8;
    let begin = if at(6) == 1 { 10 + short } else { 12 + (short | at(10) << 16 | at(11) << 24) };
    if begin > n || begin % 8 != 0 {
        return failed("this has another header");
    }
    Ok((unsafe { map.add(begin) }, (n - begin) as u64))
}

impl Ring {
    fn open(name: &str) -> io::Result<Ring> {
        let (frames, room) = mapped(&format!("/dev/shm/{}", name))?;
        let (control, n) = mapped(&format!("/dev/shm/{}.control", name))?;
        let mut ring = Ring { frames, words: control as *const AtomicU64, slots: 0, bytes: 0 };
        if n / 8 <= FIRST || ring.load(0) != MAGIC {
            return failed("this is no ring of this kind");
        }
        ring.slots = ring.load(SLOTS);
        ring.bytes = ring.load(BYTES);
        if ring.load(READERS) != 0 {
            return failed("the writer waits for readers of this ring, which this program is not");
        }
        if ring.slots < 1 || ring.slots > n / 8 || 2 * ring.slots != n / 8 - FIRST || ring.bytes > room / ring.slots {
            return failed("these words do not fit the frames");
        }
        Ok(ring)
    }

    fn word(&self, i: u64) -> &AtomicU64 {
        unsafe { &*self.words.add(i as usize) }
    }
    fn load(&self, i: u64) -> u64 {
        self.word(i).load(SeqCst)
    }
    fn store(&self, i: u64, value: u64) {
        self.word(i).store(value, SeqCst)
    }
    fn slot(&self, n: u64) -> u64 {
        FIRST + 2 * (n % self.slots)
    }
    fn tag(&self, n: u64) -> u64 {
        self.load(self.slot(n) + 1)
    }
    fn has(&self, n: u64) -> bool {
        self.load(self.slot(n)) == 2 * n + 2
    }
    fn element(&self, n: u64, i: u64) -> *mut i32 {
        unsafe { self.frames.add((n % self.slots * self.bytes + 4 * i) as usize) as *mut i32 }
    }
    fn futex(&self, what: i32, value: u32) {
        unsafe { syscall(FUTEX, self.word(COUNT), what, value, 0usize, 0usize, 0) };
    }
    fn publish(&self, count: u64) {
        self.store(COUNT, count);
        self.futex(WAKE, i32::MAX as u32);
    }

    fn claim(&self) -> io::Result<(u64, u64)> {
        let mine = (process::id() as u64) << 32 | stat("self").map_or(0, |(_, start)| start);
        let own = space(); // before: who is killed without it counts as alive
        loop {
            let before = self.load(WRITER);
            if before != 0 && !has_ended(before, self.load(NAMESPACE)) {
                return failed(&format!("process {} writes the ring", before >> 32));
            }
            if self.word(WRITER).compare_exchange(before, mine, SeqCst, SeqCst).is_ok() {
                break;
            }
        }
        let mut next = self.load(COUNT);
        if next >> 53 != 0 {
            let _ = self.word(WRITER).compare_exchange(mine, 0, SeqCst, SeqCst);
            return failed("the count of frames is none"); // another process wrote nonsense
        }
        self.store(NAMESPACE, own);
        if self.has(next) {
            next += 1; // it was whole, and not counted yet
            self.publish(next);
        }
        for i in 0..self.slots {
            if self.load(self.slot(i)) % 2 == 1 {
                self.store(self.slot(i), 0); // half-written
            }
        }
        Ok((next, mine))
    }

    fn write(&self, frames: u64) -> io::Result<()> {
        let (begin, mine) = self.claim()?;
        for n in begin..begin + frames {
            if self.load(WRITER) != mine {
                return failed("another writer has taken the ring over");
            }
            self.store(self.slot(n), 2 * n + 1);
            fence(SeqCst);
            for i in 0..self.bytes / 4 {
                unsafe { self.element(n, i).write_volatile(n as i32) };
            }
            fence(SeqCst);
            self.store(self.slot(n) + 1, n); // the tag
            self.store(self.slot(n), 2 * n + 2);
            self.publish(n + 1);
        }
        let _ = self.word(WRITER).compare_exchange(mine, 0, SeqCst, SeqCst);
        Ok(())
    }

    fn read(&self, frames: u64) {
        let (mut n, mut whole, mut torn, mut lost) = (0, 0, 0, 0);
        println!("ready");
        while n < frames {
            let count = self.load(COUNT);
            if n >= count {
                self.futex(WAIT, count as u32);
                continue;
            }
            if n + self.slots < count {
                lost += count - self.slots - n; // overtaken
                n = count - self.slots;
                continue;
            }
            let before = self.has(n);
            let same = (0..self.bytes / 4).fold(self.tag(n) == n, |same, i| same & (unsafe { self.element(n, i).read_volatile() } == n as i32));
            fence(SeqCst);
            if !before || !self.has(n) {
                lost += 1;
            } else if same {
                whole += 1;
            } else {
                torn += 1;
            }
            n += 1;
        }
        println!("{{\"whole\":{},\"torn\":{},\"lost\":{}}}", whole, torn, lost);
    }
}

// State of a process that is visible, and when it started: the lower 32 bits of milliseconds.
fn stat(process: &str) -> Option<(String, u64)> {
    let text = fs::read_to_string(format!("/proc/{}/stat", process)).ok()?;
    let mut fields = text[text.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?.to_string();
    Some((state, (fields.nth(18)?.parse::<u64>().ok()? * 1000 / TICKS) as u32 as u64))
}

fn space() -> u64 {
    let link = fs::read_link("/proc/self/ns/pid").ok();
    let digits = |path: std::path::PathBuf| path.to_string_lossy().chars().filter(char::is_ascii_digit).collect::<String>();
    link.and_then(|path| digits(path).parse().ok()).unwrap_or(0)
}

fn has_ended(word: u64, of: u64) -> bool {
    let start = word as u32;
    if start == 0 || of == 0 || of != space() {
        return false;
    }
    match stat(&(word >> 32).to_string()) {
        Some((state, found)) => found != start as u64 || state == "Z" || state == "X",
        None => (unsafe { kill((word >> 32) as i32, 0) }) != 0 && io::Error::last_os_error().raw_os_error() == Some(3), // ESRCH
    }
}

fn main() {
    let words: Vec<String> = env::args().collect();
    let count = words.get(3).and_then(|text| text.parse().ok());
    let done = match (words.get(1).map(String::as_str), count) {
        (Some("write"), Some(n)) => Ring::open(&words[2]).and_then(|ring| ring.write(n)),
        (Some("read"), Some(n)) => Ring::open(&words[2]).map(|ring| ring.read(n)),
        _ => failed("usage: ring write|read NAME COUNT"),
    };
    if let Err(error) = done {
        eprintln!("{}", error);
        process::exit(1);
    }
}
