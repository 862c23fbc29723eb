#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "real/join/meeting.h"

namespace tutti::real {

/// A file through which processes that were started together find the coordinator, if the launcher
/// does not provide the coordinator's address. Rank 0 writes its address and the run's secret to
/// the file, and the other ranks read the file. Only the owner may access the file; a file of
/// another owner, or with wider permissions, is ignored.
class RendezvousFile {
 public:
  explicit RendezvousFile(std::string path) : path_(std::move(path)) {}
  RendezvousFile(const RendezvousFile&) = delete;
  RendezvousFile& operator=(const RendezvousFile&) = delete;
  ~RendezvousFile() { remove(); }

  /// Returns the address and secret in the file; nullopt if there is no file, or if the file is
  /// ignored.
  [[nodiscard]] std::optional<Appointment> read() const;
  /// Writes the file. ERRORS: the file cannot be written.
  core::Expected<void> write(const Appointment& appointment);
  /// Removes the file if this object wrote it.
  void remove();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool written_ = false;
};

/// Returns the path of a job's file, "FOLDER/tutti-UID-JOB". Characters of the job's name that a
/// file name cannot contain are replaced.
std::string rendezvous_path(const std::string& folder, const std::string& job);

/// Returns a job name for a launcher that provides no job name. The name consists of the launcher's
/// process id and start time, so all processes that the launcher has started on this machine get
/// the same name. The launcher is the nearest ancestor process whose program name begins with
/// `program`, or the parent process if there is no such ancestor.
std::string launcher_process(const std::string& program);

}  // namespace tutti::real
