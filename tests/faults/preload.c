/* Faults that a test cannot have from a real machine: a wall clock that jumps, and a disk that turns read-only under
 * files that are open (the kernel refuses such a remount; only a failing disk does it). Loaded into the daemon alone.
 * The file that FAULTS names holds four numbers of 8 bytes. Three may be changed by a test at any time: the seconds to
 * add to the wall clock, 1 while writing is refused, and (the fourth) the milliseconds that each sync takes. The third
 * counts descriptors that were closed though they were not open: with several threads, such a close hits what another
 * one has just opened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t calm[4];
static volatile int64_t *faults = calm;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTS");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof calm, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    if (shared != MAP_FAILED) faults = shared;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

/* -- the wall clock ------------------------------------------------------------------------- */

int clock_gettime(clockid_t clock, struct timespec *now) {
    static __typeof__(clock_gettime) *real;
    if (!real) real = REAL(clock_gettime);
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += faults[0];
    return result;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

/* -- the disk ------------------------------------------------------------------------------- */

static int refused(int is_regular_file) {
    if (!faults[1] || !is_regular_file) return 0;
    errno = EROFS;
    return 1;
}

static int is_file(int fd) {
    struct stat facts;
    return fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

static int opens_file(const char *path, int flags) {
    struct stat facts;
    if ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_CREAT)) return 0;
    return stat(path, &facts) != 0 || S_ISREG(facts.st_mode);
}

#define OPEN(name)                                            \
    int name(const char *path, int flags, ...) {              \
        va_list rest;                                         \
        va_start(rest, flags);                                \
        mode_t mode = flags & O_CREAT ? va_arg(rest, int) : 0; \
        va_end(rest);                                         \
        if (refused(opens_file(path, flags))) return -1;      \
        return REAL(name)(path, flags, mode);                 \
    }
OPEN(open)
OPEN(open64)

int mkdir(const char *path, mode_t mode) { return refused(1) ? -1 : REAL(mkdir)(path, mode); }

int ftruncate64(int fd, off64_t size) { return refused(is_file(fd)) ? -1 : REAL(ftruncate64)(fd, size); }

int close(int fd) {
    int result = REAL(close)(fd);
    if (result < 0 && errno == EBADF) {
        faults[2]++;
        errno = EBADF;
    }
    return result;
}

ssize_t write(int fd, const void *bytes, size_t size) {
    return refused(is_file(fd)) ? -1 : REAL(write)(fd, bytes, size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    return refused(is_file(fd)) ? -1 : REAL(pwrite64)(fd, bytes, size, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { return pwrite64(fd, bytes, size, at); }

static void be_slow(void) {
    struct timespec left = {faults[3] / 1000, faults[3] % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

int fsync(int fd) {
    be_slow();
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    be_slow();
    return REAL(fdatasync)(fd);
}
