// Hints for options that users of nccl-tests, mpirun, or another command of Tutti expect, but that
// a command does not have. A name that is similar to one of the command's options needs no row,
// because the error message suggests similar options anyway.

#include "tools/tutti/options/option_hints.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tutti::tools {

namespace {

struct Hint {
  std::string_view commands;  ///< names of commands, separated by spaces
  std::string_view options;   ///< options, separated by spaces
  std::string_view text;
};

constexpr std::array kHints = {
    // The options of nccl-tests that perf does not have, with the reason.
    Hint{"perf", "-m --agg_iters",
         ": collectives are timed one at a time, as in nccl-tests with -m 1; remove this option"},
    Hint{"perf", "-a --average",
         ": times are averages over all ranks, as in nccl-tests with -a 1; remove this option"},
    Hint{"perf", "-G --cudagraph",
         ": the model of NCCL's times is fitted to measurements without CUDA graphs; remove this "
         "option"},
    Hint{"perf", "-C --report_cputime",
         ": only the times of collectives are predicted and measured, not the times of the calls "
         "on the CPU; remove this option"},
    Hint{"perf", "-S --report_timestamps",
         ": the rows of the table have no timestamps; remove this option"},
    Hint{"perf", "-I --per_iter_timing",
         ": each row has only the mean of all timed iterations; remove this option"},
    Hint{"perf", "-p --parallel_init",
         ": no printed time includes the creation of communicators; remove this option"},
    Hint{"perf", "-y --stream_null",
         ": the model of NCCL's times is fitted to measurements on streams other than the null "
         "stream; remove this option"},
    Hint{"perf", "-N --run_cycles",
         ": the table is measured once, as in nccl-tests with -N 1; remove this option"},
    Hint{"perf", "-x --cta_policy", "; use --set NCCL_CTA_POLICY=… with --cluster"},
    Hint{"perf", "-D --device_implementation -V --device_cta_count",
         ": collectives that a kernel of the user executes are not modelled; remove this option"},
    Hint{"perf", "-T --timeout", "; use --timeout-seconds"},
    Hint{"perf", "-J -F --output_file", "; use --format json > FILE"},
    Hint{"perf", "--ngpus", "; use -g or --gpus"},

    Hint{"simulate run", "-o --output", "; --timeline FILE writes a timeline"},
    Hint{"simulate run sweep tune plan explain perf compare calibrate validate", "--json",
         "; use --format json"},
    Hint{"simulate run plan explain", "--csv",
         "; use --format json, or --timeline FILE and tutti export FILE --to csv"},
    Hint{"simulate run sweep tune plan explain", "--nodes --workers-count --machines",
         "; use --set cluster.workers.count=…"},
    Hint{"simulate run sweep tune plan explain", "--machine --gpus",
         "; use --set cluster.workers.machine=…"},
    Hint{"simulate run sweep tune plan explain", "--model", "; use --set workload.model=…"},
    Hint{"simulate run sweep tune plan explain", "--batch --batch-size",
         "; use --set workload.batch=…"},
    Hint{"simulate run sweep tune plan explain", "--algorithm", "; use --set strategy.algorithm=…"},
    Hint{"simulate run sweep tune plan explain", "--link --network",
         "; use --set cluster.network.link=…"},
    Hint{"tune", "--framework",
         "; choose the framework in the scenario, for example with --set strategy.pytorch_ddp={}"},
    Hint{"init", "--gpus",
         "; --machine determines the number of GPUs (tutti init --list lists all machines)"},
    Hint{"init", "--batch --batch-size", "; edit workload.batch in the file that init writes"},
    Hint{"run", "-n -np --np -N",
         "; the scenario determines the number of workers; use --ranks N to run fewer ranks"},
};

/// True if the text, a list separated by spaces, contains the word.
bool contains(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace

std::string option_hint(const std::string& command, const std::string& option) {
  const auto hint = std::find_if(kHints.begin(), kHints.end(), [&](const Hint& one) {
    return contains(one.commands, command) && contains(one.options, option);
  });
  return hint == kHints.end() ? "" : std::string(hint->text);
}

}  // namespace tutti::tools
