// A stand-in for symmcts-rank and symmcts-broker that misbehaves on request, for the tests of the
// supervisor. Needs no CUDA and no MPI; mpirun starts it as well as fork does.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "harness/support/seal.hpp"

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string option(int argc, char** argv, const std::string& name) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == name) return argv[i + 1];
  }
  return {};
}

[[noreturn]] void wait_forever() {
  while (true) pause();
}

int serve(const std::string& socket_path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 || listen(fd, 8) != 0) {
    std::perror("stand-in broker");
    return 1;
  }
  wait_forever();
}

class Rank {
 public:
  Rank() : fd_(open(variable("SYMMCTS_EVIDENCE").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600)) {}
  void line(const std::string& text) {
    (void)!write(fd_, (text + "\n").c_str(), text.size() + 1);
    digest_.add(text + "\n");
  }
  void phase(const std::string& name) {
    line(R"({"type":"mark","t":2,"what":"phase","phase":")" + name + "\"}");
  }
  void header(int rank) {
    line(R"({"type":"header","schema":"symm-cts/evidence/1","rank":)" + std::to_string(rank) +
         R"(,"world":2,"host":0,"driver":"software","driver_version":13000,"platform":"x",)"
         R"("seed":0,"clock":"virtual","devices":[],"cupti_version":0,"recorder":"test"})");
  }
  void give_up(const std::string& members) {
    line(R"({"type":"mark","t":3,"what":"give-up",)" + members + "}");
    footer();
  }
  void verdict(const std::string& unit) {
    line(R"({"type":"mark","t":3,"what":"case-end","case":")" + unit + R"(","ids":["SM-DATA-1"]})");
  }
  void footer() { line(symmcts::sealed(digest_, R"({"type":"footer","deterministic":true})")); }

 private:
  int fd_;
  symmcts::Digest digest_;
};

// A process that has left its parent and its session, as a daemon does.
void leave_a_daemon() {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  // With a command line of its own, so that nobody takes it for the rank.
  execl("/proc/self/exe", "daemon", static_cast<char*>(nullptr));
  _exit(1);
}

// One line of the broker's report.
void report(const std::string& line) {
  const std::string file = variable("SYMMCTS_RUN_DIR") + "/report.jsonl";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  (void)!write(fd, (line + "\n").c_str(), line.size() + 1);
  close(fd);
}

// The scenario takes rank 1, and rank 0 does about it what `how` says.
int without_rank_1(const std::string& how, int rank, Rank& out) {
  const bool kills = how == "ScenarioKill";
  if (rank == 1) {
    report(std::string(R"({"type":"fault","rank":1,"t":7,"entry":"x[0]","kind":")") +
           (kills ? "kill" : "stop") +
           R"(","when":"before","at":"cuMemMap","number":1,"text":"rank 1: is )" +
           (kills ? "killed" : "stopped") + R"( before cuMemMap, call 1"})");
    kill(getpid(), kills ? SIGKILL : SIGSTOP);
    wait_forever();
  }
  const std::string file = variable("SYMMCTS_RUN_DIR") + "/report.jsonl";
  while (access(file.c_str(), F_OK) != 0) usleep(1000);
  usleep(50'000);  // the other one goes first
  if (how == "ScenarioCrash") {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  if (how == "ScenarioHang") {
    report(R"({"type":"hang","source":"platform","ranks":[],"objects":[],)"
           R"("text":"nothing can move"})");
    wait_forever();
  }
  out.give_up(R"("cause":"peer","text":"rank 1 is gone","ranks":[1])");
  return 3;
}

int misbehave(const std::string& unit, int rank) {
  const std::string how = unit.substr(unit.find('.') + 1);
  const bool odd = rank == 1;  // most faults are those of rank 1 alone
  if (how == "Missing" && odd) return 0;
  if (how == "Mute" && odd) wait_forever();
  Rank out;
  out.header(rank);
  if (how == "Refuse" && odd) {
    std::fprintf(stderr, "real driver found, the platform was expected\n");
    return 3;
  }
  out.phase("import");
  if (how.starts_with("Scenario")) return without_rank_1(how, rank, out);
  if (how == "ExitThree" && odd) return 3;
  if (how == "ExitSeven" && odd) return 7;
  // The other rank's implementation throws, or ends itself, and this one cannot go on.
  if ((how == "Throw" || how == "ExitThree" || how == "Gone") && !odd) {
    out.give_up(R"("cause":"peer","text":"rank 1 is gone","ranks":[1])");
    return 3;
  }
  if (how == "Throw") {
    out.give_up(R"("cause":"threw","text":"boom")");
    return 4;
  }
  if (how == "GiveUp") {
    out.give_up(R"("cause":"refusal","text":"cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY")");
    return 3;
  }
  if (how == "BothGone") {
    out.give_up(R"("cause":"peer","text":"the other is gone","ranks":[)" +
                std::to_string(1 - rank) + "]");
    return 3;
  }
  if (how == "Abort" && odd) {
    std::fprintf(stderr, "terminate called after throwing an instance of 'std::runtime_error'\n");
    std::fprintf(stderr, "  what():  boom\n");
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
  }
  if (how == "Crash" && odd) {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would turn it into an exit code
    raise(SIGSEGV);
  }
  if (how == "Killed" && odd) raise(SIGKILL);
  if (how == "Mute") wait_forever();
  if (how == "Hang" || how == "Stubborn" || how == "Deadlock" || (how == "Crash" && !odd)) {
    if (how == "Stubborn") signal(SIGTERM, SIG_IGN);
    out.line(R"({"type":"enter","seq":1,"t":2,"name":"cuMulticastBindMem"})");
    if (how == "Deadlock" && odd) {
      report(R"({"type":"hang","source":"platform","ranks":[{"rank":0,"where":"exchange"}],)"
             R"("objects":[{"creator":"rank 0","devices":2,"missing":["gpu 1"],"empty":false}],)"
             R"("text":"nothing can move"})");
    }
    leave_a_daemon();
    wait_forever();
  }
  // Rank 0 crashes; rank 1 notices and ends itself, as many a library does that has lost a peer.
  // With mpirun not before that has seen the crash: of two ends that it finds at once it tells of
  // either.
  if (how == "Chain") {
    const std::string fifo = variable("SYMMCTS_RUN_DIR") + "/chain";
    (void)mkfifo(fifo.c_str(), 0600);
    const int fd = open(fifo.c_str(), odd ? O_RDONLY : O_WRONLY);
    pid_t first = getpid();
    if (!odd) {
      (void)!write(fd, &first, sizeof first);
      signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    }
    char nothing = 0;
    (void)!read(fd, &first, sizeof first);
    (void)!read(fd, &nothing, 1);
    const bool mpirun = !variable("OMPI_COMM_WORLD_RANK").empty();
    while (mpirun && kill(first, 0) == 0) usleep(1000);
    return 9;
  }
  if (how == "Flood" && odd) {
    const std::string noise(65536, 'x');
    while (true) (void)!write(2, noise.data(), noise.size());
  }
  if (how == "FloodAndLeave" && odd) {
    const std::string noise(4u << 20, 'x');
    (void)!write(1, noise.data(), noise.size());
    (void)!write(1, "x", 1);
  }
  if (how == "MuchEvidence" && odd) {
    while (true) out.phase("spin");
  }
  if (how == "Misuse") {
    report(R"({"type":"misuse","rank":)" + std::to_string(odd ? 1 : 0) + R"(,"t":)" +
           (odd ? "5" : "9") + R"(,"kind":"leak","text":"left"})");
  }
  if (how == "Daemon") leave_a_daemon();
  if (how == "Garbage" && odd) out.line("\x01\x02 not evidence");
  if (how != "NoVerdict" || !odd) out.verdict(unit);
  if (how != "NoFooter" || !odd) out.footer();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string socket_path = option(argc, argv, "--socket");
  if (!socket_path.empty()) return serve(socket_path);
  if (argc > 1 && std::string(argv[1]) == "--check") {
    if (option(argc, argv, "--scenario") != "bad.toml") return 0;
    std::fprintf(stderr, "symmcts-broker: bad.toml:3:9: unknown key 'slots'\n");
    return 2;
  }
  if (argc == 1) wait_forever();  // as the daemon of a rank
  const std::string rank = variable("SYMMCTS_RANK").empty() ? variable("OMPI_COMM_WORLD_RANK")
                                                            : variable("SYMMCTS_RANK");
  return misbehave(option(argc, argv, "--unit"), std::atoi(rank.c_str()));
}
