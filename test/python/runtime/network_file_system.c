// Gives a folder (NFS_FOLDER) the manners of a network file system, for tests that load this before
// the C library: no locks; operations that were done and report that they were not, as when the
// reply is lost and the request is sent again; handles that are stale; files that other processes
// made and that are not seen yet; files that are removed while they are open and stay, renamed,
// until they are closed; a server whose clock is two hours behind.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <dirent.h>

#define REAL(result, name, ...)                                                                    \
  static result (*real)(__VA_ARGS__);                                                              \
  if (!real)                                                                                       \
  real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static int is_remote(const char *path) {
  const char *folder = getenv("NFS_FOLDER");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

// One time in `often`, differently in each process.
static int happens(int often) {
  static unsigned state;
  static int owner;
  if (owner != getpid())
    owner = getpid(), state = (unsigned)owner * 2654435761u;
  return rand_r(&state) % often == 0;
}

static int fail(int code) { return errno = code, -1; }

int flock(int fd, int operation) {
  REAL(int, flock, int, int);
  return getenv("NFS_HAS_LOCKS") ? real(fd, operation) : fail(ENOLCK);
}

static int open_remote(const char *path, int flags, int (*real)(const char *, int, ...), int mode) {
  if (is_remote(path) && happens(12))
    return fail(flags & O_CREAT ? EIO : happens(2) ? ESTALE : ENOENT);
  return real(path, flags, mode);
}
#define OPEN(name)                                                                                 \
  int name(const char *path, int flags, ...) {                                                     \
    REAL(int, name, const char *, int, ...);                                                       \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    int mode = va_arg(rest, int);                                                                  \
    va_end(rest);                                                                                  \
    return open_remote(path, flags, real, mode);                                                   \
  }
OPEN(open)
OPEN(open64)

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  int result = real(from, to);
  if (result == 0 && is_remote(to) && happens(12))
    return fail(ENOENT); // The second request found that it was done.
  return result;
}

int mkdir(const char *path, mode_t mode) {
  REAL(int, mkdir, const char *, mode_t);
  int result = real(path, mode);
  return result == 0 && is_remote(path) && happens(8) ? fail(EEXIST) : result;
}

static int is_open_here(const struct stat *wanted) {
  struct stat found;
  for (int fd = 3; fd < 256; ++fd)
    if (fstat(fd, &found) == 0 && found.st_ino == wanted->st_ino && found.st_dev == wanted->st_dev)
      return fd;
  return 0;
}

// What is to be removed when it is closed.
static char *silly[256];

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  struct stat wanted;
  int fd;
  if (is_remote(path) && lstat(path, &wanted) == 0 && (fd = is_open_here(&wanted))) {
    char *hidden;
    const char *slash = strrchr(path, '/');
    if (asprintf(&hidden, "%.*s/.nfs%d-%d", (int)(slash - path), path, (int)getpid(), fd) < 0)
      return fail(ENOMEM);
    REAL(int, rename, const char *, const char *);
    silly[fd] = hidden;
    return real(path, hidden);
  }
  int result = real(path);
  return result == 0 && is_remote(path) && happens(8) ? fail(ENOENT) : result;
}

int close(int fd) {
  REAL(int, close, int);
  int result = real(fd);
  if (fd >= 0 && fd < 256 && silly[fd]) {
    remove(silly[fd]);
    free(silly[fd]);
    silly[fd] = NULL;
  }
  return result;
}

// Late by what a client's cache of attributes may be, and by the server's clock.
#define STAT(name, type)                                                                           \
  int name(const char *path, struct type *found) {                                                 \
    REAL(int, name, const char *, struct type *);                                                  \
    int result = real(path, found);                                                                \
    if (is_remote(path)) {                                                                         \
      if (happens(20))                                                                             \
        return fail(happens(2) ? ESTALE : ENOENT);                                                 \
      found->st_mtim.tv_sec -= 7200;                                                               \
    }                                                                                              \
    return result;                                                                                 \
  }
STAT(stat, stat)
STAT(stat64, stat64)

DIR *opendir(const char *path) {
  REAL(DIR *, opendir, const char *);
  return is_remote(path) && happens(8) ? (errno = ESTALE, NULL) : real(path);
}
