#include "tools/tutti/options/manual.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/base/error.h"
#include "core/base/version.h"
#include "tools/tutti/command.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/options/values.h"

namespace tutti::tools {
namespace {

/// Escapes text for roff, in which backslashes, hyphens, and dots at the beginning of a line have
/// other meanings.
std::string roff(const std::string& text) {
  std::string safe;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
    line_begins = c == '\n';
  }
  return safe;
}

/// Returns the heading of an option's description in roff, such as "\fB\-b\fR, \fB\-\-minbytes\fR
/// \fISIZE\fR".
std::string head_of(const CLI::App& command, const CLI::Option& option) {
  std::string head;
  const auto add = [&](const std::string& name) {
    head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", roff(name));
  };
  for (const std::string& name : option.get_snames()) add("-" + name);
  for (const std::string& name : option.get_lnames()) add("--" + name);
  if (head.empty()) add(option.get_name());
  const auto value = value_of(command, option);
  if (value && !option.get_lnames().empty())
    head += fmt::format(" \\fI{}\\fR", roff(value->placeholder));
  return head;
}

std::string options_of(const CLI::App& command, bool positional) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty() || option->get_positional() != positional) continue;
    text += ".TP\n" + head_of(command, *option) + '\n' + roff(option->get_description());
    const std::string& otherwise = option->get_default_str();
    if (!otherwise.empty()) text += fmt::format(" (default: {})", roff(otherwise));
    text += '\n';
  }
  return text;
}

std::vector<const CLI::App*> shown_commands(const CLI::App& command) {
  std::vector<const CLI::App*> shown;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!one->get_group().empty()) shown.push_back(one);
  }
  return shown;
}

}  // namespace

std::string manual_name(const CLI::App& command) {
  std::string name = command_name(command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name.empty() ? "tutti" : "tutti-" + name;
}

std::string manual_page(const CLI::App& command) {
  const std::string name = manual_name(command);
  const std::string words = command_name(command);
  const std::string about = command.get_description();
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text =
      fmt::format(".TH {} 1 \"\" \"Tutti {}\" \"Tutti\"\n", roff(upper), core::version());
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(name),
                      roff(about.substr(0, about.find_first_of(".\n"))));
  text += fmt::format(".SH SYNOPSIS\n.B tutti{}\n", words.empty() ? "" : " " + roff(words));
  if (words.empty()) {
    text += ".I COMMAND\n[\\fIOPTION\\fR ...]\n";
  } else if (words == "view") {
    text += "[\\fIFILE\\fR] [\\fIOPTION\\fR ...]\n";
  } else {
    for (const CLI::Option* option : command.get_options()) {
      if (!option->get_positional()) continue;
      const std::string shown = roff(option->get_name());
      text += option->get_required() ? fmt::format("\\fI{}\\fR\n", shown)
                                     : fmt::format("[\\fI{}\\fR]\n", shown);
    }
    text += "[\\fIOPTION\\fR ...]\n";
  }
  text += ".SH DESCRIPTION\n" + roff(about) + '\n';
  const std::vector<const CLI::App*> commands = shown_commands(command);
  if (!commands.empty()) text += ".SH COMMANDS\n";
  for (const CLI::App* one : commands)
    text += fmt::format(".TP\n.B {}\n{}\n", roff(one->get_name()), roff(one->get_description()));
  const std::string arguments = options_of(command, true);
  if (!arguments.empty()) text += ".SH ARGUMENTS\n" + arguments;
  const std::string options = options_of(command, false);
  if (!options.empty()) text += ".SH OPTIONS\n" + options;
  if (!command.get_footer().empty())
    text += ".SH EXAMPLES AND REMARKS\n.nf\n" + roff(command.get_footer()) + "\n.fi\n";
  if (!words.empty())
    text +=
        ".SH EXIT STATUS\n0 means success. 1 means that the run failed or was interrupted. 2 means "
        "that the request is invalid.\n";
  text += ".SH SEE ALSO\n";
  const CLI::App* const above = command.get_parent();
  if (above != nullptr) text += fmt::format(".BR {} (1)", roff(manual_name(*above)));
  for (std::size_t i = 0; i < commands.size(); ++i)
    text += fmt::format("{}.BR {} (1)", i > 0 || above != nullptr ? ",\n" : "",
                        roff(manual_name(*commands[i])));
  return text + '\n';
}

namespace {

core::Expected<void> write_pages(const CLI::App& command, const std::string& folder) {
  if (auto written =
          write_file(folder + "/" + manual_name(command) + ".1", {}, manual_page(command));
      !written)
    return written;
  for (const CLI::App* one : shown_commands(command)) {
    if (auto written = write_pages(*one, folder); !written) return written;
  }
  return {};
}

}  // namespace

int manual(const ManualOptions& options, const CLI::App& app) {
  if (!options.folder.empty()) {
    if (!options.command.empty())
      return refuse(
          {core::ProblemCode::kConflict, "--folder"},
          "--folder writes the pages of all commands; remove the name of the command, or --folder");
    const auto written = write_pages(app, options.folder);
    return written ? static_cast<int>(kDone) : report(written.error());
  }
  const CLI::App* command = &app;
  for (const std::string& name : options.command) {
    const auto commands = shown_commands(*command);
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const CLI::App* one) { return one->get_name() == name; });
    std::vector<std::string> names;
    for (const CLI::App* const one : commands) names.push_back(one->get_name());
    if (found == commands.end())
      return refuse({core::ProblemCode::kUnknownName, "command"},
                    "there is no command {}{}; tutti --help lists all commands", name,
                    core::did_you_mean(name, names));
    command = *found;
  }
  return print_out(manual_page(*command));
}

}  // namespace tutti::tools
