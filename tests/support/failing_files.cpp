// A library for LD_PRELOAD that lets the n-th write, sync, truncation or rename in one folder fail,
// as on a disk that is full or broken. Environment variables:
//
//     TUTTI_FAILING_FOLDER   only files in this folder are affected
//     TUTTI_FAILING_CALL     n, from 1; 0: no call fails
//     TUTTI_FAILING_HOW      full:  no space is left from the n-th call on
//                            eio:   the n-th call reports an input/output error
//                            short: the n-th call, if it is a write, writes half of the bytes
//     TUTTI_FAILING_COUNT    a file outside the folder, to which the number of calls is written at
//                            the end

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

std::atomic<long> calls{0};

std::string_view setting(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

bool concerns(const char* path) {
  const std::string_view folder = setting("TUTTI_FAILING_FOLDER");
  return !folder.empty() && std::string_view(path).starts_with(folder);
}

bool concerns(int file) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  return concerns(path);
}

enum class Fate { kAsUsual, kFails, kShort };

/// Counts a call and returns its outcome. Sets errno if the call fails.
Fate next_fate(bool writes) {
  const long number = ++calls;
  const long failing =
      std::atol(std::getenv("TUTTI_FAILING_CALL") ? std::getenv("TUTTI_FAILING_CALL") : "0");
  const std::string_view how = setting("TUTTI_FAILING_HOW");
  if (failing <= 0 || number < failing) return Fate::kAsUsual;
  if (how == "full") {
    errno = ENOSPC;
    // A full disk can sync and rename existing files.
    return writes ? Fate::kFails : Fate::kAsUsual;
  }
  if (number != failing) return Fate::kAsUsual;
  if (how == "short") return writes ? Fate::kShort : Fate::kAsUsual;
  errno = EIO;
  return Fate::kFails;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

struct AtEnd {
  ~AtEnd() {
    const std::string_view path = setting("TUTTI_FAILING_COUNT");
    if (path.empty()) return;
    if (std::FILE* const file = std::fopen(path.data(), "w")) {
      std::fprintf(file, "%ld\n", calls.load());
      std::fclose(file);
    }
  }
} at_end;

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, std::size_t count) {
  static auto* const next = real<ssize_t(int, const void*, std::size_t)>("write");
  if (!concerns(file)) return next(file, bytes, count);
  const Fate fate = next_fate(true);
  if (fate == Fate::kFails) return -1;
  return next(file, bytes, fate == Fate::kShort ? (count + 1) / 2 : count);
}

ssize_t pwrite64(int file, const void* bytes, std::size_t count, off64_t at) {
  static auto* const next = real<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64");
  if (!concerns(file)) return next(file, bytes, count, at);
  const Fate fate = next_fate(true);
  if (fate == Fate::kFails) return -1;
  return next(file, bytes, fate == Fate::kShort ? (count + 1) / 2 : count, at);
}

ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t at) {
  return pwrite64(file, bytes, count, at);
}

ssize_t writev(int file, const iovec* parts, int count) {
  static auto* const next = real<ssize_t(int, const iovec*, int)>("writev");
  if (!concerns(file)) return next(file, parts, count);
  const Fate fate = next_fate(true);
  if (fate == Fate::kFails) return -1;
  return next(file, parts, fate == Fate::kShort ? (count + 1) / 2 : count);
}

int fsync(int file) {
  static auto* const next = real<int(int)>("fsync");
  return concerns(file) && next_fate(false) == Fate::kFails ? -1 : next(file);
}

int fdatasync(int file) {
  static auto* const next = real<int(int)>("fdatasync");
  return concerns(file) && next_fate(false) == Fate::kFails ? -1 : next(file);
}

int ftruncate64(int file, off64_t length) {
  static auto* const next = real<int(int, off64_t)>("ftruncate64");
  return concerns(file) && next_fate(false) == Fate::kFails ? -1 : next(file, length);
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

int rename(const char* from, const char* to) {
  static auto* const next = real<int(const char*, const char*)>("rename");
  return concerns(to) && next_fate(false) == Fate::kFails ? -1 : next(from, to);
}

}  // extern "C"
