#include "real/process/system_limits.h"

#include <sys/resource.h>

#include <cerrno>

#include <fmt/format.h>

namespace tutti::real {

std::string remedy_for(int error) {
  switch (error) {
    case EAGAIN:
      return "; raise the limit of processes and threads (ulimit -u, or pids.max of the control "
             "group), or use fewer workers";
    case EMFILE: {
      rlimit limit{};
      const bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
      return fmt::format("; raise the limit of open files (ulimit -n{}), or use fewer workers",
                         known ? fmt::format(", now {}", limit.rlim_cur) : "");
    }
    case ENFILE: return "; the whole machine has too many open files; use fewer workers";
    case ENOMEM:
      return "; raise the limit of memory (ulimit -v, or memory.max of the control group), or use "
             "fewer workers or a smaller model";
    default: return "";
  }
}

}  // namespace tutti::real
