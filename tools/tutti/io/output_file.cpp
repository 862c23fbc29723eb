// No reader should ever see an incomplete output under its final name. The content is therefore
// written to NAME.part, flushed to the disk, and then renamed, which is atomic. The folder is
// flushed last, so that the new name survives a power failure. A signal that ends the program has
// to remove the temporary file, and a signal handler can access only a global variable. This global
// variable is `unfinished`, the path of the incomplete file. The variable changes only while these
// signals are blocked (SignalsHeld), so a handler never sees a partly written path, or the path of
// a completed file. Only one file can be incomplete at a time. The buffer with its error handling
// is in file_buffer.h.

#include "tools/tutti/io/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "tools/tutti/command.h"
#include "tools/tutti/io/input_files.h"
#include "tools/tutti/io/interrupt.h"

namespace tutti::tools {

namespace fs = std::filesystem;

namespace {

constexpr mode_t kUsualMode = 0666;

/// The path of the incomplete file that a signal handler has to remove; "" if there is none. Only
/// one file is written at a time. The path is a global variable, because signal handlers can access
/// only global variables.
char unfinished[PATH_MAX] = "";

extern "C" void remove_unfinished(int number) {
  remove_unfinished_file();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// Blocks the signals whose handlers use `unfinished`, while an object of this class exists.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : kEndingSignals) sigaddset(&held, number);
    sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

/// Installs signal handlers that remove the incomplete file. REQUIRES: signals are blocked.
void remove_on_signals(const std::string& path) {
  if (path.size() >= sizeof unfinished) return;
  std::memcpy(unfinished, path.c_str(), path.size() + 1);
  for (const int number : kEndingSignals) {
    // If a signal is ignored (nohup) or already handled, its action is not changed.
    if (const auto before = std::signal(number, remove_unfinished); before != SIG_DFL)
      std::signal(number, before);
  }
}

/// Returns the path to write to: the target if `path` is a symbolic link, so that the link itself
/// is kept; otherwise `path`.
std::string followed(fs::path path) {
  std::error_code status;
  for (int links = 0; links < 40 && fs::is_symlink(path, status); ++links) {
    path = path.parent_path() / fs::read_symlink(path, status);
  }
  return path.string();
}

/// Flushes the file's folder to the disk, so that the new name survives a power failure. Errors are
/// ignored, because the file is complete under both the old and the new name.
void sync_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const int file = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  static_cast<void>(fsync(file));
  close(file);
}

/// Returns true if the existing file is empty or begins with `beginning`.
bool empty_or_begins(const std::string& path, std::string_view beginning) {
  std::string found(beginning.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(found.data(), static_cast<std::streamsize>(found.size()));
  return file.gcount() == 0 ? file.eof() : found == beginning;
}

}  // namespace

void remove_unfinished_file() {
  if (unfinished[0] != '\0') unlink(unfinished);
}

core::Expected<OutputFile> OutputFile::create(const std::string& path,
                                              const std::vector<std::string>& inputs,
                                              std::string_view only_over) {
  const auto refuse = [&path](core::ProblemCode code, const std::string& why) {
    return tl::make_unexpected(core::Error::request({code, ""}, why, {path, 0, 0}));
  };
  if (auto file = check_not_stdout(path); !file) return failed(file);
  std::error_code status;
  const bool is_input =
      is_input_file(path) || std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) {
        return fs::equivalent(path, input, status);
      });
  if (is_input)
    return refuse(core::ProblemCode::kConflict,
                  "this is an input file of the command; name another file for the output");
  const fs::file_status target = fs::status(path, status);
  if (fs::is_directory(target))
    return refuse(core::ProblemCode::kWrongType, "this is a folder; expected the name of a file");
  if (fs::exists(target) && !fs::is_regular_file(target)) {
    const int device = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (device < 0)
      return refuse(core::ProblemCode::kInvalid,
                    fmt::format("cannot be written: {}", std::strerror(errno)));
    return OutputFile(path, "", device);
  }
  if (fs::exists(target) && !only_over.empty() && !empty_or_begins(path, only_over))
    return refuse(core::ProblemCode::kConflict,
                  "this file exists and was not written by this command; name another file, or "
                  "remove this file");
  const std::string whole = followed(path);
  constexpr int kMaxLeftOver = 1000;
  for (int number = 1; number <= kMaxLeftOver; ++number) {
    const std::string part =
        number == 1 ? whole + ".part" : fmt::format("{}.{}.part", whole, number);
    const SignalsHeld held;
    const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kUsualMode);
    if (file >= 0) {
      remove_on_signals(part);
      return OutputFile(whole, part, file);
    }
    if (errno != EEXIST)
      return refuse(core::ProblemCode::kInvalid,
                    fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  return refuse(core::ProblemCode::kTooLarge,
                "the folder has too many unfinished files (NAME.part); remove these files");
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      part_(std::exchange(other.part_, "")),
      buffer_(std::move(other.buffer_)),
      stream_(std::move(other.stream_)) {}

OutputFile::~OutputFile() {
  if (part_.empty()) return;
  const SignalsHeld held;
  std::remove(part_.c_str());
  unfinished[0] = '\0';
}

core::Expected<void> OutputFile::keep() {
  // Write before the rename. Flush the file before renaming it, because an empty file could
  // otherwise have the final name after a power failure.
  if (!part_.empty()) buffer_->sync_to_disk();
  buffer_->close();
  int error = buffer_->error();
  if (error == 0 && !part_.empty()) {
    const SignalsHeld held;
    if (std::rename(part_.c_str(), path_.c_str()) == 0) {
      part_.clear();
      unfinished[0] = '\0';
      sync_folder(path_);
    } else {
      error = errno;
    }
  }
  if (error == 0) return {};
  return tl::make_unexpected(
      core::Error::run({core::ProblemCode::kSystem},
                       fmt::format("{}: cannot be written: {}", path_, std::strerror(error))));
}

std::string OutputFile::leave() {
  buffer_->close();
  const SignalsHeld held;
  unfinished[0] = '\0';
  return std::exchange(part_, "");
}

core::Expected<void> check_not_stdout(const std::string& path) {
  if (path != "-") return {};
  return tl::make_unexpected(core::Error::request(
      {core::ProblemCode::kInvalid, ""},
      "this output cannot be written to standard output; name a file (./- is the file with the "
      "name -)",
      {path, 0, 0}));
}

core::Expected<void> check_distinct(std::initializer_list<NamedOutput> outputs) {
  std::map<std::string, const char*> taken;
  std::error_code ignored;
  for (const NamedOutput& one : outputs) {
    if (one.path.empty() || one.path == "-" || fs::is_other(one.path, ignored)) continue;
    const auto [other, fresh] =
        taken.try_emplace(fs::absolute(one.path, ignored).lexically_normal(), one.option);
    if (!fresh)
      return refused({core::ProblemCode::kConflict, one.option},
                     "{} {}: {} also names this file; choose different names", one.option, one.path,
                     other->second);
  }
  return {};
}

core::Expected<void> check_outputs(std::initializer_list<NamedOutput> outputs) {
  if (auto distinct = check_distinct(outputs); !distinct) return distinct;
  std::error_code ignored;
  for (const NamedOutput& one : outputs) {
    if (one.path.empty() || (one.path == "-" && one.or_stdout)) continue;
    // Opening a pipe would wait for its reader.
    if (fs::is_other(one.path, ignored)) {
      if (access(one.path.c_str(), W_OK) == 0) continue;
      return refused({core::ProblemCode::kInvalid, one.option}, "{} {}: cannot be written: {}",
                     one.option, one.path, std::strerror(errno));
    }
    // The temporary file is removed again; an existing file remains.
    if (const auto file = OutputFile::create(one.path, {}); !file)
      return tl::make_unexpected(about(one.option, file.error()));
  }
  return {};
}

core::Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                                const std::function<void(std::ostream&)>& write) {
  auto file = OutputFile::create(path, inputs);
  if (!file) return failed(file);
  write(file->stream());
  return file->keep();
}

core::Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                                const std::string& text) {
  return write_file(path, inputs, [&](std::ostream& out) { out << text; });
}

}  // namespace tutti::tools
