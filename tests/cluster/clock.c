/* A clock that is wrong by as many seconds as the file CLOCK_OFFSET says, which may change at any time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
    static const long right = 0;
    static const volatile long *wrong;
    if (!wrong) {
        const char *name = getenv("CLOCK_OFFSET");
        int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
        void *found = fd < 0 ? MAP_FAILED : mmap(0, sizeof right, PROT_READ, MAP_SHARED, fd, 0);
        wrong = found == MAP_FAILED ? &right : found;
        if (fd >= 0) close(fd);
    }
    return *wrong;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += offset();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (now) *now = found.tv_sec;
    return found.tv_sec;
}
