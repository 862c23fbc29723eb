#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "real/join/meeting.h"

namespace tutti::real {

/// A file by which processes that were started together find the one that coordinates them, where nobody else says where
/// it is: rank 0 writes its address and the run's secret there, the others read it. Only its owner may read it, and one
/// that is somebody else's, or open to others, is not believed.
class RendezvousFile {
 public:
  explicit RendezvousFile(std::string path) : path_(std::move(path)) {}
  RendezvousFile(const RendezvousFile&) = delete;
  RendezvousFile& operator=(const RendezvousFile&) = delete;
  ~RendezvousFile() { remove(); }

  /// What is written there now; nothing if there is nothing, or nothing to believe.
  [[nodiscard]] std::optional<Appointment> read() const;
  /// ERRORS: it cannot be written.
  core::Expected<void> write(const Appointment& appointment);
  /// Takes away what was written here.
  void remove();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool written_ = false;
};

/// The name of the file for a job: "FOLDER/tutti-UID-JOB", with what no file name may hold replaced.
std::string rendezvous_path(const std::string& folder, const std::string& job);

/// Names the launcher that started this process where it leaves no name for its job: the nearest ancestor whose program
/// begins with `program`, else the parent; by its id and when it began. The same for all that it started on this machine.
std::string launcher_process(const std::string& program);

}  // namespace tutti::real
