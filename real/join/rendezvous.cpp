#include "real/join/rendezvous.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace tutti::real {

using core::Error;

namespace {

constexpr const char* kFirstLine = "tutti rendezvous 1";

struct Process {
  std::string program;
  pid_t parent = 0;
  std::string began;
};

/// Reads /proc/ID/stat: "id (program) state parent …"; the 22nd field is the start time.
std::optional<Process> process(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  Process found{line.substr(open + 1, close - open - 1), 0, {}};
  std::istringstream fields(line.substr(close + 1));
  std::string field;
  for (int i = 3; i <= 22 && fields >> field; ++i) {
    if (i == 4) found.parent = static_cast<pid_t>(std::strtol(field.c_str(), nullptr, 10));
    if (i == 22) found.began = field;
  }
  return found;
}

}  // namespace

void RendezvousFile::remove() {
  if (std::exchange(written_, false)) ::unlink(path_.c_str());
}

std::optional<Appointment> RendezvousFile::read() const {
  const Socket file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  // In a folder to which all users can write, another user may have created the file.
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return std::nullopt;
  std::array<char, 512> bytes{};
  const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
  if (got <= 0) return std::nullopt;
  std::istringstream text(std::string(bytes.data(), static_cast<std::size_t>(got)));
  std::string first, address, secret, end;
  if (!std::getline(text, first) || !std::getline(text, address) || !std::getline(text, secret) ||
      !std::getline(text, end) || first != kFirstLine || end != "end")
    return std::nullopt;
  const auto coordinator = parse_address(address);
  if (!coordinator) return std::nullopt;
  return Appointment{*coordinator, secret, true};
}

core::Expected<void> RendezvousFile::write(const Appointment& appointment) {
  const auto failed = [this] {
    return tl::make_unexpected(
        Error::run({core::ProblemCode::kSystem},
                   fmt::format("{}: cannot be written: {}; name another folder with --rendezvous",
                               path_, std::strerror(errno))));
  };
  // Write to a temporary file and rename it, so that a reader never sees an incomplete file.
  std::string part = path_ + ".XXXXXX";
  const Socket file(::mkostemp(part.data(), O_CLOEXEC));  // readable by its owner only
  if (!file) return failed();
  const std::string text =
      fmt::format("{}\n{}\n{}\nend\n", kFirstLine, to_string(appointment.coordinator),
                  appointment.secret.text());
  const bool whole =
      ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!whole || ::rename(part.c_str(), path_.c_str()) != 0) {
    auto error = failed();
    ::unlink(part.c_str());
    return error;
  }
  written_ = true;
  return {};
}

std::string rendezvous_path(const std::string& folder, const std::string& job) {
  std::string name = fmt::format("tutti-{}-{}", ::geteuid(), job);
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return folder + "/" + name.substr(0, 200);
}

std::string launcher_process(const std::string& program) {
  const pid_t parent = ::getppid();
  pid_t found = parent;
  for (pid_t id = parent; id > 1;) {
    const auto at = process(id);
    if (!at) break;
    if (at->program.starts_with(program)) {
      found = id;
      break;
    }
    id = at->parent;
  }
  const auto at = process(found);
  return fmt::format("{}-{}", found, at ? at->began : "0");
}

}  // namespace tutti::real
