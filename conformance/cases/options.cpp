#include "conformance/cases/options.hpp"

#include <cuda.h>

#include <CLI/CLI.hpp>
#include <map>

namespace symmcts::cases {

Result<Options> parse_options(int argc, const char* const* argv) {
  Options options;
  std::string exchange = "unix";
  const std::map<std::string, std::uint32_t> routes = {
      {"any", 0},
      {"fd", CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR},
      {"fabric", CU_MEM_HANDLE_TYPE_FABRIC},
  };
  CLI::App app("Runs one conformance case as one rank of a job. Started by symmcts.",
               "symmcts-rank");
  auto* list = app.add_flag("--list", options.list, "print the cases and their requirements");
  app.add_flag("--list-implementations", options.list_implementations,
               "print the built-in implementations, what must catch each, whence, and what it is");
  auto* implementation = app.add_option("--impl", options.implementation, "implementation");
  auto* unit = app.add_option("--unit", options.unit, "case to run, Area.Case");
  implementation->excludes(list);
  unit->excludes(list);
  app.add_option("--exchange", exchange, "how ranks talk")->check(CLI::IsMember({"unix", "mpi"}));
  app.add_option("--root-ordinal", options.root_ordinal, "device ordinal of the root")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--one-visible-gpu", options.one_visible_gpu, "this process sees one GPU only");
  app.add_option("--handle-types", options.handle_types, "fd, fabric or any")
      ->transform(CLI::CheckedTransformer(routes));
  app.add_option("--ops", options.operations, "operations of a measured phase")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--bytes", options.bytes, "bytes of one operation on one rank");
  app.add_option("--group-domain", options.group_domain,
                 "cases of groups: ranks in a row that groups stay within")
      ->check(CLI::PositiveNumber);
  app.add_option("--group-size", options.group_size, "cases of groups: ranks of a group")
      ->check(CLI::Range(2, 1 << 20));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = true;
    options.text = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    return Error{std::string("symmcts-rank: ") + error.what()};
  }
  options.mpi = exchange == "mpi";
  if (options.list || options.list_implementations) return options;
  if (options.implementation.empty()) return Error{"symmcts-rank: --impl is missing"};
  if (options.unit.empty()) return Error{"symmcts-rank: --unit is missing"};
  return options;
}

}  // namespace symmcts::cases
