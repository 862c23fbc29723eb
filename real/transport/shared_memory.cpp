#include "real/transport/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "real/process/system_limits.h"

namespace tutti::real {

using core::Error;
using core::Expected;

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

tl::unexpected<Error> failed(const std::string& what) {
  const int why = errno;
  return tl::make_unexpected(
      Error::run({core::ProblemCode::kSystem},
                 fmt::format("{}: {}{}", what, std::strerror(why), remedy_for(why))));
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (begin_) ::munmap(begin_, bytes_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

SharedMemory::~SharedMemory() {
  if (file_ >= 0) ::close(file_);
}

Expected<SharedMemory> SharedMemory::create(std::size_t bytes) {
  SharedMemory memory(::memfd_create("tutti", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memory.file_ < 0 || ::ftruncate(memory.file_, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(memory.file_, F_ADD_SEALS, kSeals) != 0)
    return failed(fmt::format("{} bytes of shared memory", bytes));
  return memory;
}

Expected<SharedMemory> SharedMemory::open(std::int64_t process, int number, std::size_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", process, number);
  SharedMemory memory(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (memory.file_ < 0) return failed(path);
  struct stat about {};
  // Reject memory that is not sealed. If the owner shrank unsealed memory after this process has
  // mapped it, an access would kill this process.
  const bool has_expected_size = ::fstat(memory.file_, &about) == 0 &&
                                 about.st_size == static_cast<off_t>(bytes) &&
                                 (::fcntl(memory.file_, F_GET_SEALS) & kSeals) == kSeals;
  if (!has_expected_size)
    return tl::make_unexpected(
        Error::run({core::ProblemCode::kProtocol}, path + " is not the expected shared memory"));
  return memory;
}

Expected<Mapping> SharedMemory::map(std::size_t offset, std::size_t bytes) const {
  void* const begin =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(offset));
  if (begin == MAP_FAILED) return failed("mapping shared memory");
  return Mapping(static_cast<std::byte*>(begin), bytes);
}

Expected<Mapping> SharedMemory::map_twice(std::size_t offset, std::size_t bytes,
                                          Touch touch) const {
  void* const room =
      ::mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return failed("mapping shared memory");
  Mapping mapping(static_cast<std::byte*>(room), 2 * bytes);
  const int flags = MAP_SHARED | MAP_FIXED | (touch == Touch::kNow ? MAP_POPULATE : 0);
  for (const std::size_t at : {std::size_t{0}, bytes}) {
    if (::mmap(mapping.begin() + at, bytes, PROT_READ | PROT_WRITE, flags, file_,
               static_cast<off_t>(offset)) == MAP_FAILED)
      return failed("mapping shared memory");
  }
  return mapping;
}

}  // namespace tutti::real
