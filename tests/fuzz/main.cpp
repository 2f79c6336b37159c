// Random legal and illegal calls on the software platform, against a model of what they should do.
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "tests/fuzz/driver.hpp"
#include "tests/fuzz/round.hpp"

using namespace symmcts::fuzz;

namespace {

// Looks at the library in a process of its own: the parent of the ranks must not have it.
bool is_platform(const std::string& path) {
  const pid_t pid = fork();
  if (pid == 0) {
    open_driver(path.c_str());
    _exit(0);
  }
  int status = 1;
  return waitpid(pid, &status, 0) == pid && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Drives the software platform with random calls.", "fuzz_platform"};
  app.add_option("--lib", options.library, "the platform's libcuda.so.1, absolute")->required();
  app.add_option("--seed", options.seed,
                 "of the first round; each further one takes the next number");
  app.add_option("--seconds", options.seconds, "begins no further round after so many seconds");
  app.add_option("--rounds", options.rounds, "ends after so many rounds");
  app.add_option("--steps", options.steps, "of a round and rank, on average")
      ->check(CLI::PositiveNumber);
  app.add_option("--processes", options.processes, "of a round: 1 or 2; both in turn if absent")
      ->check(CLI::Range(1, 2));
  app.add_option("--patience", options.patience, "seconds that a call may take");
  app.add_option("--transcript", options.transcript,
                 "file for every call, one for a rank; rounds are ordered then");
  app.add_option("--pretend", options.pretends,
                 "1 hangs, 2 crashes, 3 finds something: for the fuzzer's own tests");
  CLI11_PARSE(app, argc, argv);
  if (options.seconds <= 0 && options.rounds == 0) {
    std::fprintf(stderr, "fuzz: --seconds or --rounds is required\n");
    return 2;
  }
  if (!is_platform(options.library)) return 3;

  catch_interrupts();
  Tally tally;
  Outcome outcome = Outcome::passed;
  const auto begun = std::chrono::steady_clock::now();
  const auto over = [&] {
    const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begun;
    return (options.rounds != 0 && tally.rounds >= options.rounds) ||
           (options.seconds > 0 && past.count() >= options.seconds);
  };
  std::uint64_t seed = options.seed;
  while (outcome == Outcome::passed && !over()) outcome = play_round(options, seed++, tally);

  std::printf("fuzz: seeds %llu to %llu: %zu rounds, %zu steps, %zu kills, %zu standstills named\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(seed - 1), tally.rounds, tally.steps, tally.kills,
              tally.standstills);
  if (outcome == Outcome::failed) {
    std::fprintf(stderr, "again: fuzz_platform --lib %s --seed %llu --rounds 1 --steps %zu%s\n",
                 options.library.c_str(), static_cast<unsigned long long>(seed - 1), options.steps,
                 options.processes != 0
                     ? (" --processes " + std::to_string(options.processes)).c_str()
                     : "");
    return 1;
  }
  return outcome == Outcome::interrupted ? 128 + interrupted() : 0;
}
