#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "real/join/meeting.h"

namespace tutti::real {

/// A file through which processes that were started together find the coordinator if the launcher
/// does not provide its address: rank 0 writes its address and the run's secret there, the others
/// read it. Only its owner may read it; a file of another owner, or one that others can access, is
/// ignored.
class RendezvousFile {
 public:
  explicit RendezvousFile(std::string path) : path_(std::move(path)) {}
  RendezvousFile(const RendezvousFile&) = delete;
  RendezvousFile& operator=(const RendezvousFile&) = delete;
  ~RendezvousFile() { remove(); }

  /// Returns the current content; nothing if there is no file, or it is not trusted.
  [[nodiscard]] std::optional<Appointment> read() const;
  /// ERRORS: it cannot be written.
  core::Expected<void> write(const Appointment& appointment);
  /// Removes the file if this object wrote it.
  void remove();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool written_ = false;
};

/// Returns the path of a job's file: "FOLDER/tutti-UID-JOB", with characters replaced that a file
/// name cannot hold.
std::string rendezvous_path(const std::string& folder, const std::string& job);

/// Returns a name for the launcher that started this process, for launchers that provide no name of
/// the job: the process id and start time of the nearest ancestor whose program begins with
/// `program`, else of the parent. It is the same for all processes that it started on this machine.
std::string launcher_process(const std::string& program);

}  // namespace tutti::real
