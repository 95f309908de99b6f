/* Writes down what a process does to its SQLite files: loaded before libc (LD_PRELOAD), it hands every call on and
 * appends what was done to the file that POWER_CUT_JOURNAL names, in the order in which it was done.
 *
 * A record is 'W' (bytes at an offset), 'T' (cut to a length), 'S' (flushed) or 'U' (removed), the length of the path, the offset or
 * length, the number of bytes and the time in nanoseconds, then the path and the bytes. -shm is no part of it: it is
 * made anew after a cut. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct record {
    uint32_t what;
    uint32_t path_length;
    uint64_t at;
    uint64_t length;
    uint64_t time_ns;
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("POWER_CUT_JOURNAL");
    if (name) journal = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int ends_with(const char *text, const char *end) {
    size_t have = strlen(text), want = strlen(end);
    return have >= want && strcmp(text + have - want, end) == 0;
}

/* A database, its log or its journal. */
static int is_named_so(const char *path) {
    return ends_with(path, ".db") || ends_with(path, ".db-wal") || ends_with(path, ".db-journal");
}

/* The path of such a file; 0 for every other one. */
static int is_ours(int fd, char path[4096]) {
    char link[64];
    if (journal < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_named_so(path);
}

static void note(uint32_t what, const char *path, uint64_t at, const void *bytes, uint64_t length) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct record record = { what, (uint32_t)strlen(path), at, length,
                             (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec };
    struct iovec parts[3] = { { &record, sizeof record },
                              { (void *)path, record.path_length },
                              { (void *)bytes, bytes ? length : 0 } };
    size_t all = sizeof record + record.path_length + (bytes ? length : 0);
    if (writev(journal, parts, 3) != (ssize_t)all) abort();
}

#define REAL(type, name) static type real; if (!real) real = (type)dlsym(RTLD_NEXT, name)

typedef ssize_t (*pwrite_call)(int, const void *, size_t, off64_t);
typedef int (*truncate_call)(int, off64_t);
typedef int (*sync_call)(int);
typedef ssize_t (*write_call)(int, const void *, size_t);
typedef int (*unlink_call)(const char *);

static ssize_t written(pwrite_call real, int fd, const void *bytes, size_t length, off64_t at) {
    char path[4096];
    if (!is_ours(fd, path)) return real(fd, bytes, length, at);
    pthread_mutex_lock(&one_at_a_time);
    ssize_t done = real(fd, bytes, length, at);
    if (done > 0) note('W', path, (uint64_t)at, bytes, (uint64_t)done);
    pthread_mutex_unlock(&one_at_a_time);
    return done;
}

static int cut(truncate_call real, int fd, off64_t length) {
    char path[4096];
    if (!is_ours(fd, path)) return real(fd, length);
    pthread_mutex_lock(&one_at_a_time);
    int done = real(fd, length);
    if (done == 0) note('T', path, (uint64_t)length, 0, 0);
    pthread_mutex_unlock(&one_at_a_time);
    return done;
}

static int flushed(sync_call real, int fd) {
    char path[4096];
    if (!is_ours(fd, path)) return real(fd);
    pthread_mutex_lock(&one_at_a_time);
    int done = real(fd);
    if (done == 0) note('S', path, 0, 0, 0);
    pthread_mutex_unlock(&one_at_a_time);
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    REAL(pwrite_call, "pwrite64");
    return written(real, fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    REAL(pwrite_call, "pwrite64");
    return written(real, fd, bytes, length, at);
}

int ftruncate(int fd, off_t length) {
    REAL(truncate_call, "ftruncate64");
    return cut(real, fd, length);
}

int ftruncate64(int fd, off64_t length) {
    REAL(truncate_call, "ftruncate64");
    return cut(real, fd, length);
}

int fsync(int fd) {
    REAL(sync_call, "fsync");
    return flushed(real, fd);
}

int fdatasync(int fd) {
    REAL(sync_call, "fdatasync");
    return flushed(real, fd);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    char path[4096];
    REAL(write_call, "write");
    if (!is_ours(fd, path)) return real(fd, bytes, length);
    pthread_mutex_lock(&one_at_a_time);
    off64_t at = lseek64(fd, 0, SEEK_CUR);
    ssize_t done = real(fd, bytes, length);
    if (done > 0) note('W', path, (uint64_t)at, bytes, (uint64_t)done);
    pthread_mutex_unlock(&one_at_a_time);
    return done;
}

int unlink(const char *path) {
    REAL(unlink_call, "unlink");
    if (journal < 0 || !is_named_so(path)) return real(path);
    pthread_mutex_lock(&one_at_a_time);
    int done = real(path);
    if (done == 0) note('U', path, 0, 0, 0);
    pthread_mutex_unlock(&one_at_a_time);
    return done;
}
