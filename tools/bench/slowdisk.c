/* A disk whose flush takes exactly FLUSH_MICROSECONDS, so that figures do not depend on the machine's own. Nothing is really
 * flushed: the files are in memory. */
#include <stdlib.h>
#include <time.h>

static int flush(void) {
    const char *given = getenv("FLUSH_MICROSECONDS");
    long left = given ? atol(given) : 0;
    struct timespec pause = {left / 1000000, left % 1000000 * 1000};
    while (nanosleep(&pause, &pause)) {
    }
    return 0;
}

int fdatasync(int fd) { return (void)fd, flush(); }
int fsync(int fd) { return (void)fd, flush(); }
