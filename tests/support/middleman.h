#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "real/join/socket.h"

namespace tutti::test {

/// Stands between one worker and the rest of its run, unknown to all: the worker joins here, and
/// the others, who are given this address for its own, reach it here. Passes everything on, but for
/// one thing that it does to one message.
class Middleman {
 public:
  /// What it does with a piece that another worker sends to its own.
  enum class Deed {
    kLoses,        ///< it never comes
    kRepeats,      ///< it comes twice
    kCutsShort,    ///< half of it comes, and then the end of the connection
    kExaggerates,  ///< it says that four gigabytes follow
    kScrambles,    ///< its header is noise
    kMisdirects,   ///< it says it is for another rank
    kGoesSilent,   ///< nothing comes any more, on a connection that stays
    kSlows,        ///< it comes by 4 kB, ten times a second
  };

  /// `which` counts pieces from 0, of all connections together.
  Middleman(int coordinator_port, Deed deed, int which);
  Middleman(const Middleman&) = delete;
  Middleman& operator=(const Middleman&) = delete;
  ~Middleman();

  /// "127.0.0.1:PORT", where its worker joins.
  [[nodiscard]] std::string at() const { return to_string(control_.address()); }
  /// It has been done.
  [[nodiscard]] bool done() const { return done_; }

 private:
  /// A connection to it and the one that it has made for it, with what has come on the first and
  /// not gone on yet.
  struct Line {
    real::Socket from, to;
    bool control = false;
    std::size_t
        handshake;  ///< so many bytes of what the joiner says in the handshake are still to come
    std::string held{};
    bool silent = false;
    std::string slow{};                           ///< what is left of the piece that is slowed
    std::chrono::steady_clock::time_point due{};  ///< the time of its next 4 kB
  };

  void work();
  void accept(const real::Listener& listener, int port, bool control);
  bool move_on(Line& line);
  bool move_back(Line& line);
  /// Takes whole things off `held`; false: the connection ends here.
  bool pass(Line& line);
  bool pass_introduction(Line& line);
  bool pass_pieces(Line& line);
  bool do_to(Line& line, std::string piece);
  bool pass_slowly(Line& line);

  int coordinator_port_;
  Deed deed_;
  int which_;
  real::Listener control_;
  real::Listener data_;
  std::atomic<int> worker_port_{0};
  std::atomic<bool> done_{false};
  std::atomic<bool> ends_{false};
  std::vector<Line> lines_;
  std::thread thread_;
};

}  // namespace tutti::test
