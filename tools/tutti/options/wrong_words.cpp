#include "tools/tutti/options/wrong_words.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "core/base/error.h"
#include "tools/tutti/options/option_hints.h"
#include "tools/tutti/options/values.h"

namespace tutti::tools {

using core::ProblemCode;

namespace {

/// Returns the innermost subcommand that the arguments name.
const CLI::App* innermost(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  return app;
}

std::string full_name(const CLI::App* app) {
  return app->get_parent() == nullptr ? app->get_name()
                                      : full_name(app->get_parent()) + " " + app->get_name();
}

std::vector<std::string> commands_of(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

core::Error wrong(ProblemCode code, std::string field, std::string text) {
  return core::Error::request({code, std::move(field)}, std::move(text));
}

/// Returns the option or positional argument to which an error message of CLI11 refers. The message
/// begins with the name of an argument, or contains the name of an option. If the message names
/// neither, the result is empty.
std::string field_in(const std::string& text, const CLI::App* app) {
  for (const CLI::Option* option : app->get_options()) {
    const std::string name = option->get_single_name();
    if (option->get_positional() && (text.starts_with(name + ": ") || text.starts_with(name + " ")))
      return name;
  }
  const std::size_t at = text.starts_with('-') ? 0 : text.find(" -") + 1;
  return at < text.size() && text[at] == '-' ? text.substr(at, text.find_first_of(": ", at) - at)
                                             : "";
}

ProblemCode code_of(const CLI::ParseError& error) {
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::RequiredError: return ProblemCode::kMissing;
    case CLI::ExitCodes::ConversionError: return ProblemCode::kWrongType;
    default: return ProblemCode::kInvalid;
  }
}

const CLI::Option* find_option(const CLI::App* app, const std::string& name) {
  for (const CLI::Option* option : app->get_options()) {
    if (option->check_name(name) || option->get_single_name() == name) return option;
  }
  return nullptr;
}

/// Returns the value in an error message of CLI11 such as "Could not convert: --seed = abc".
std::string value_in(const std::string& text) {
  const std::size_t at = text.find(" = ");
  return at == std::string::npos ? "" : text.substr(at + 3);
}

/// Returns what an option with a number expects. `written` is the value that was refused.
std::string expected_number(const OptionValue& value, const std::string& written) {
  if (value.placeholder == "US") return "expected a number of microseconds";
  if (value.placeholder == "SECONDS") return "expected a number of seconds";
  if (value.placeholder != "N") return "expected a number";
  const bool whole =
      !written.empty() && written.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? "the number is too large" : "expected a whole number";
}

/// Returns the message for an error of CLI11 about an option or argument, in Tutti's own words.
std::string message_of(const CLI::ParseError& error, const CLI::App* command) {
  const std::string text = error.what();
  const std::string name = field_in(text, command);
  const CLI::Option* const option = name.empty() ? nullptr : find_option(command, name);
  if (option == nullptr) return text;
  const std::optional<OptionValue> value = value_of(*command, *option);
  const std::string written = value_in(text);
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::ConversionError:
      if (!value) return fmt::format("{} takes no value (got {})", name, written);
      if (value->kind == OptionValue::Kind::kNumber)
        return fmt::format("{} {}: {}", name, written, expected_number(*value, written));
      return text;
    case CLI::ExitCodes::ArgumentMismatch:
      return value ? fmt::format("{} needs a value ({})", name, value->placeholder)
                   : fmt::format("{} takes no value", name);
    case CLI::ExitCodes::ValidationError:
      if (value && value->kind == OptionValue::Kind::kChoice && text.find(" not in ") != text.npos)
        return fmt::format("{}: expected one of {}", name, fmt::join(value->choices, ", "));
      return text;
    default: return text;
  }
}

std::string list(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

core::Error wrong_words(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* const command = innermost(&app);
  const std::string name = full_name(command);
  const std::vector<std::string> commands = commands_of(command);
  std::vector<std::string> unknown = command->remaining();
  if (!commands.empty()) {
    if (unknown.empty())
      return wrong(ProblemCode::kMissing, "",
                   fmt::format("{}: a command is missing; expected one of {}; see {} --help", name,
                               list(commands), name));
    std::string similar = core::did_you_mean(unknown.front(), commands);
    if (unknown.front() == "version" || unknown.front() == "-V" || unknown.front() == "-v")
      similar = "; did you mean --version?";
    return wrong(
        ProblemCode::kUnknownName, "",
        fmt::format("{}: unknown command \"{}\"{}; see {} --help", name, unknown.front(),
                    similar.empty() ? "; expected one of " + list(commands) : similar, name));
  }
  const auto option = std::find_if(unknown.begin(), unknown.end(),
                                   [](const auto& word) { return word.starts_with('-'); });
  // An unknown option is reported even if an argument is missing, because the two are often one
  // mistake. If there is no unknown argument, the message names the command.
  const bool missing = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  const bool extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (!(extra && !unknown.empty()) && !(missing && option != unknown.end()))
    return wrong(code_of(error), field_in(error.what(), command),
                 fmt::format("{}: {}; see {} --help", name, message_of(error, command), name));
  if (option == unknown.end())
    return wrong(
        ProblemCode::kUnused, "",
        fmt::format("{}: unexpected argument \"{}\"; see {} --help", name, unknown.front(), name));
  const std::string written = option->substr(0, option->find('='));
  // "-G1" is -G with the value 1.
  const bool is_short = written.size() > 2 && written[1] != '-';
  std::string hint = option_hint(command_name(*command), written);
  if (hint.empty() && is_short) hint = option_hint(command_name(*command), written.substr(0, 2));
  if (hint.empty()) hint = core::did_you_mean(written, options_of(command));
  return wrong(ProblemCode::kUnknownField, written,
               fmt::format("{}: unknown option {}{}; see {} --help", name, written, hint, name));
}

}  // namespace tutti::tools
