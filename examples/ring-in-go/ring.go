// A ring of samebytes in Go, by the standard library alone; docs/ring-protocol.md has the protocol.
//
//	ring write NAME COUNT    writes frames of int32 whose elements are all the frame's index
//	ring read NAME COUNT     reads up to that frame, and says how many were whole, torn, and lost
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const (
	magic                = 0x33676e69722d6273 // "sb-ring3"
	slots, nbytes        = 1, 2
	writer, namespace    = 3, 4
	readers, count       = 5, 8
	first                = 16
	futexWait, futexWake = 0, 1
	ticks                = 100 // a second, of start times in /proc
)

type ring struct {
	frames, control []byte
	slots, nbytes   uint64
	mine            uint64
}

// Maps the data of a .npy file.
func mapped(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	if len(data) < 12 || string(data[:6]) != "\x93NUMPY" {
		return nil, errors.New(path + " is no .npy file")
	}
	begin := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	if data[6] > 1 {
		begin = 12 + int(binary.LittleEndian.Uint32(data[8:]))
	}
	if begin > len(data) || begin%8 != 0 {
		return nil, errors.New(path + " has another header")
	}
	return data[begin:], nil
}

func (r *ring) word(i uint64) *uint64 { return (*uint64)(unsafe.Pointer(&r.control[8*i])) }
func (r *ring) load(i uint64) uint64  { return atomic.LoadUint64(r.word(i)) }
func (r *ring) store(i, value uint64) { atomic.StoreUint64(r.word(i), value) }
func (r *ring) frame(n uint64) []byte { return r.frames[n%r.slots*r.nbytes:][:r.nbytes] }
func (r *ring) slot(n uint64) uint64  { return first + 2*(n%r.slots) }
func (r *ring) tag(n uint64) uint64   { return r.load(r.slot(n) + 1) }
func (r *ring) has(n uint64) bool     { return r.load(r.slot(n)) == 2*n+2 }
func (r *ring) futex(what int, value uint64) {
	syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(r.word(count))), uintptr(what), uintptr(uint32(value)), 0, 0, 0)
}

var nothing uint64

// A full fence: on ARM plain loads and stores move past Go's atomic ones, but not past this.
func fence() { atomic.AddUint64(&nothing, 0) }

func open(name string) (*ring, error) {
	frames, err := mapped("/dev/shm/" + name)
	if err != nil {
		return nil, err
	}
	control, err := mapped("/dev/shm/" + name + ".control")
	if err != nil {
		return nil, err
	}
	r := &ring{frames: frames, control: control}
	if len(control) <= 8*first || r.load(0) != magic {
		return nil, errors.New(name + " is no ring of this kind")
	}
	r.slots, r.nbytes = r.load(slots), r.load(nbytes)
	if r.load(readers) != 0 {
		return nil, errors.New(name + " has readers that its writer waits for, which this program is not")
	}
	if r.slots < 1 || r.slots > uint64(len(control)/8) || 2*r.slots != uint64(len(control)/8-first) || r.nbytes > uint64(len(frames))/r.slots {
		return nil, errors.New(name + " has words that do not fit its frames")
	}
	return r, nil
}

// State of a process, and when it started: the lower 32 bits of milliseconds; false: it is not visible.
func stat(process string) (state string, start uint64, ok bool) {
	text, err := os.ReadFile("/proc/" + process + "/stat")
	if err != nil {
		return "", 0, false
	}
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:]))
	start, err = strconv.ParseUint(fields[19], 10, 64)
	return fields[0], uint64(uint32(start * 1000 / ticks)), err == nil
}

func space() uint64 {
	link, _ := os.Readlink("/proc/self/ns/pid")
	number, _ := strconv.ParseUint(strings.Trim(link, "pid:[]"), 10, 64)
	return number
}

func hasEnded(word, of uint64) bool {
	start := uint64(uint32(word))
	if start == 0 || of == 0 || of != space() {
		return false
	}
	state, found, ok := stat(strconv.FormatUint(word>>32, 10))
	if ok {
		return found != start || state == "Z" || state == "X"
	}
	return syscall.Kill(int(word>>32), 0) == syscall.ESRCH
}

func (r *ring) claim() (next uint64, err error) {
	_, start, _ := stat("self")
	r.mine = uint64(os.Getpid())<<32 | start
	own := space() // before: who is killed without it counts as alive
	for {
		before := r.load(writer)
		if before != 0 && !hasEnded(before, r.load(namespace)) {
			return 0, fmt.Errorf("process %d writes the ring", before>>32)
		}
		if atomic.CompareAndSwapUint64(r.word(writer), before, r.mine) {
			break
		}
	}
	next = r.load(count)
	if next>>53 != 0 { // no ring has so many frames: another process wrote nonsense
		atomic.CompareAndSwapUint64(r.word(writer), r.mine, 0)
		return 0, errors.New("the count of frames is none")
	}
	r.store(namespace, own)
	if r.has(next) { // it was whole, and not counted yet
		next++
		r.store(count, next)
		r.futex(futexWake, 1<<31-1)
	}
	for i := uint64(0); i < r.slots; i++ {
		if r.load(r.slot(i))%2 == 1 { // half-written
			r.store(r.slot(i), 0)
		}
	}
	return next, nil
}

func (r *ring) write(frames uint64) error {
	next, err := r.claim()
	if err != nil {
		return err
	}
	for end := next + frames; next < end; next++ {
		if r.load(writer) != r.mine {
			return errors.New("another writer has taken the ring over")
		}
		r.store(r.slot(next), 2*next+1)
		fence()
		for at, frame := 0, r.frame(next); at+4 <= len(frame); at += 4 {
			binary.LittleEndian.PutUint32(frame[at:], uint32(next))
		}
		fence()
		r.store(r.slot(next)+1, next) // the tag
		r.store(r.slot(next), 2*next+2)
		r.store(count, next+1)
		r.futex(futexWake, 1<<31-1)
	}
	atomic.CompareAndSwapUint64(r.word(writer), r.mine, 0)
	return nil
}

func (r *ring) read(frames uint64) {
	var whole, torn, lost uint64
	copied := make([]byte, r.nbytes)
	fmt.Println("ready")
	for next := uint64(0); next < frames; {
		there := r.load(count)
		if next >= there {
			r.futex(futexWait, there)
			continue
		}
		if there > r.slots && next < there-r.slots { // overtaken
			lost += there - r.slots - next
			next = there - r.slots
			continue
		}
		before := r.has(next)
		copy(copied, r.frame(next))
		tag := r.tag(next)
		fence()
		if !before || !r.has(next) {
			lost++
		} else {
			same := tag == next
			for at := 0; at+4 <= len(copied); at += 4 {
				same = same && binary.LittleEndian.Uint32(copied[at:]) == uint32(next)
			}
			if same {
				whole++
			} else {
				torn++
			}
		}
		next++
	}
	fmt.Printf("{\"whole\":%d,\"torn\":%d,\"lost\":%d}\n", whole, torn, lost)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: ring write|read NAME COUNT")
		os.Exit(2)
	}
	frames, err := strconv.ParseUint(os.Args[3], 10, 64)
	var r *ring
	if err == nil {
		r, err = open(os.Args[2])
	}
	if err == nil && os.Args[1] == "write" {
		err = r.write(frames)
	} else if err == nil {
		r.read(frames)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
