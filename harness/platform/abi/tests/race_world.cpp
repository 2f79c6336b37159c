#include "harness/platform/abi/tests/race_world.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/platform/abi/symmcts_platform.h"

namespace symmcts::platform::abi::test {
namespace {

namespace fs = std::filesystem;

CUmemAllocationProp property(int device) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return prop;
}

CUmulticastObjectProp team_of(int devices) {
  CUmulticastObjectProp prop{};
  prop.numDevices = static_cast<unsigned>(devices);
  prop.size = RaceWorld::kBlock;
  prop.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return prop;
}

}  // namespace

RaceWorld::RaceWorld(int own_rank, int ranks, Messages messages, std::vector<int> lines)
    : rank(own_rank), size(ranks), messages_(messages), lines_(std::move(lines)) {
  if (messages_ == Messages::seen) {
    find<void (*)()>("symmcts_platform_managed")();
  }
  EXPECT_CU(CU(cuInit)(0));
  CUcontext context = nullptr;
  EXPECT_CU(CU(cuDevicePrimaryCtxRetain)(&context, rank));
  EXPECT_CU(CU(cuCtxSetCurrent)(context));
  for (CUstream* each : {&a, &b}) EXPECT_CU(CU(cuStreamCreate)(each, CU_STREAM_NON_BLOCKING));
  for (CUevent* each : {&event, &other}) {
    EXPECT_CU(CU(cuEventCreate)(each, CU_EVENT_DISABLE_TIMING));
  }
  EXPECT_CU(CU(cuMemAlloc_v2)(&mine, kBlock));
  EXPECT_CU(CU(cuMemAlloc_v2)(&source, kBlock));
  EXPECT_CU(CU(cuMemAllocHost_v2)(&pinned, kBlock));
  fill(source, a, kBlock);
  synchronize(a);
}

void RaceWorld::share() {
  const auto prop = property(rank);
  EXPECT_CU(CU(cuMemCreate)(&own_, kBlock, &prop, 0));
  blocks_.resize(static_cast<std::size_t>(size));
  blocks_[static_cast<std::size_t>(rank)] = map(own_);
  fill(block(rank), a, kBlock);
  synchronize(a);
  for (int from = 0; from < size; ++from) {
    const auto handle = pass(from, own_);
    if (from != rank) blocks_[static_cast<std::size_t>(from)] = map(handle);
  }
  barrier();
}

CUdeviceptr RaceWorld::multicast() {
  CUmemGenericAllocationHandle object = 0;
  const auto team = team_of(size);
  if (rank == 0) {
    EXPECT_CU(CU(cuMulticastCreate)(&object, &team));
  }
  object = pass(0, object);
  EXPECT_CU(CU(cuMulticastAddDevice)(object, rank));
  barrier();
  EXPECT_CU(CU(cuMulticastBindMem)(object, 0, own_, 0, kBlock, 0));
  const CUdeviceptr at = map(object);
  barrier();
  return at;
}

CUdeviceptr RaceWorld::map(CUmemGenericAllocationHandle handle) const {
  CUdeviceptr at = 0;
  EXPECT_CU(CU(cuMemAddressReserve)(&at, kBlock, 0, 0, 0));
  EXPECT_CU(CU(cuMemMap)(at, kBlock, 0, handle, 0));
  const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, rank},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CU(CU(cuMemSetAccess)(at, kBlock, &grant, 1));
  return at;
}

void RaceWorld::copy(CUdeviceptr to, CUdeviceptr from, CUstream stream, std::size_t bytes) const {
  EXPECT_CU(CU(cuMemcpyAsync)(to, from, bytes, stream));
}
void RaceWorld::fill(CUdeviceptr to, CUstream stream, std::size_t bytes) const {
  EXPECT_CU(CU(cuMemsetD8Async)(to, 0, bytes, stream));
}
void RaceWorld::write(CUdeviceptr word, std::uint32_t value, CUstream stream) const {
  EXPECT_CU(CU(cuStreamWriteValue32_v2)(stream, word, value, 0));
}
void RaceWorld::wait(CUdeviceptr word, std::uint32_t value, CUstream stream) const {
  EXPECT_CU(CU(cuStreamWaitValue32_v2)(stream, word, value, CU_STREAM_WAIT_VALUE_GEQ));
}
void RaceWorld::order(CUstream first, CUstream second) {
  EXPECT_CU(CU(cuEventRecord)(event, first));
  EXPECT_CU(CU(cuStreamWaitEvent)(second, event, 0));
}
void RaceWorld::synchronize(CUstream stream) const { EXPECT_CU(CU(cuStreamSynchronize)(stream)); }

// --- messages: a stamp, and perhaps a descriptor

void RaceWorld::send(int to, int descriptor) {
  std::uint64_t stamp = 0;
  if (messages_ == Messages::seen) {
    stamp = find<std::uint64_t (*)(int)>("symmcts_platform_message_out")(to);
  }
  iovec part{&stamp, sizeof stamp};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  EXPECT_EQ(::sendmsg(lines_[static_cast<std::size_t>(to)], &message, MSG_NOSIGNAL),
            static_cast<ssize_t>(sizeof stamp));
}

RaceWorld::Letter RaceWorld::hear(int awaited) {
  while (true) {
    std::vector<pollfd> waiting;
    for (const int line : lines_) waiting.push_back({line, POLLIN, 0});
    EXPECT_GT(::poll(waiting.data(), waiting.size(), -1), 0);
    Letter letter;
    while (waiting[static_cast<std::size_t>(letter.from)].revents == 0) ++letter.from;
    int& line = lines_[static_cast<std::size_t>(letter.from)];
    iovec part{&letter.stamp, sizeof letter.stamp};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = ::recvmsg(line, &message, MSG_CMSG_CLOEXEC);
    if (got == static_cast<ssize_t>(sizeof letter.stamp)) {
      const cmsghdr* head = CMSG_FIRSTHDR(&message);
      if (head != nullptr) {
        std::memcpy(&letter.descriptor, CMSG_DATA(head), sizeof letter.descriptor);
      }
      return letter;
    }
    if (letter.from == awaited) {
      std::fprintf(stderr, "rank %d: rank %d is gone\n", rank, letter.from);
      std::_Exit(4);
    }
    line = -1;
  }
}

// As the reference's mailbox does it: every message is taken in when it comes, its clock is joined
// when it is used.
int RaceWorld::receive(int from) {
  const bool seen = messages_ == Messages::seen;
  const auto begin = [&] {
    if (seen) find<int (*)(std::uint64_t)>("symmcts_platform_wait_begin")(0);
  };
  const auto end = [&](std::uint64_t stamp) {
    if (!seen) return;
    find<int (*)(const std::uint64_t*, std::size_t)>("symmcts_platform_wait_end")(&stamp, 1);
  };
  const auto kept = std::find_if(shelf_.begin(), shelf_.end(),
                                 [&](const Letter& letter) { return letter.from == from; });
  if (kept != shelf_.end()) {
    const Letter letter = *kept;
    shelf_.erase(kept);
    if (seen) find<std::uint64_t (*)(int)>("symmcts_platform_message_out")(rank);
    begin();
    end(letter.stamp);
    return letter.descriptor;
  }
  while (true) {
    begin();
    const Letter letter = hear(from);
    end(letter.from == from ? letter.stamp : 0);
    if (letter.from == from) return letter.descriptor;
    shelf_.push_back(letter);
  }
}

void RaceWorld::barrier() {
  if (rank == 0) {
    for (int each = 1; each < size; ++each) receive(each);
    for (int each = 1; each < size; ++each) send(each);
  } else {
    send(0);
    receive(0);
  }
}

CUmemGenericAllocationHandle RaceWorld::pass(int from, CUmemGenericAllocationHandle handle) {
  constexpr auto kFd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  int descriptor = -1;
  if (rank == from) {
    EXPECT_CU(CU(cuMemExportToShareableHandle)(&descriptor, handle, kFd, 0));
    for (int to = 0; to < size; ++to) {
      if (to != rank) send(to, descriptor);
    }
    ::close(descriptor);
    return handle;
  }
  descriptor = receive(from);
  EXPECT_CU(CU(cuMemImportFromShareableHandle)(
      &handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)), kFd));
  ::close(descriptor);
  return handle;
}

// --- running

namespace {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/symmcts-races-XXXXXX";
    if (::mkdtemp(name) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

pid_t start_broker(const Folder& folder, int size, std::uint64_t seed) {
  std::vector<std::string> words{
      SYMMCTS_BROKER_PROGRAM, "--socket",         folder / "machine",  "--profile",
      SYMMCTS_HGX_H200,       "--report",         folder / "report",   "--seed",
      std::to_string(seed),   "--expect-clients", std::to_string(size)};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    // What it says to people is in its report, too.
    const int log = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (log >= 0) ::dup2(log, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  for (int i = 0; i < 6000 && ::access((folder / "machine").c_str(), F_OK) != 0; ++i) {
    ::usleep(10'000);
  }
  return pid;
}

int exit_code(pid_t pid) {
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

FoundRaces read_report(const fs::path& path) {
  FoundRaces found;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    found.lines.push_back(line);
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_object()) continue;
    if (record["type"] == "race") {
      ++(record["class"] == "certain" ? found.certain : found.suspect);
      found.texts.push_back(record["text"].get<std::string>());
    } else if (record["type"] == "race-check") {
      found.checked = true;
      found.whole = record["whole"].get<bool>();
    }
  }
  // What ranks left behind is told in the order in which they happened to end.
  std::sort(found.lines.begin(), found.lines.end());
  return found;
}

}  // namespace

FoundRaces run_program(const RaceProgram& program, int size, Messages messages,
                       std::uint64_t seed) {
  const Folder folder;
  library();  // opened once, started by nobody but the ranks
  const pid_t broker = start_broker(folder, size, seed);
  const auto count = static_cast<std::size_t>(size);
  std::vector<std::vector<int>> lines(count, std::vector<int>(count, -1));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      std::array<int, 2> ends{};
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
      lines[i][j] = ends[0];
      lines[j][i] = ends[1];
    }
  }
  std::vector<pid_t> ranks;
  std::fflush(nullptr);
  for (int rank = 0; rank < size; ++rank) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const auto own = static_cast<std::size_t>(rank);
      for (std::size_t i = 0; i < count; ++i) {
        for (const int line : lines[i]) {
          if (i != own && line >= 0) ::close(line);
        }
      }
      ::setenv("SYMMCTS_MACHINE", (folder / "machine").c_str(), 1);
      ::setenv("SYMMCTS_RANK", std::to_string(rank).c_str(), 1);
      {
        // Leaks at the end are no matter of these programs.
        const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        RaceWorld world(rank, size, messages, lines[own]);
        program.body(world);
        EXPECT_CU(CU(cuCtxSynchronize)());
        world.barrier();
        if (!::testing::Test::HasFailure()) ::dup2(nowhere, STDERR_FILENO);
      }
      std::exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    ranks.push_back(pid);
  }
  for (const auto& ends : lines) {
    for (const int line : ends) {
      if (line >= 0) ::close(line);
    }
  }
  for (int rank = 0; rank < size; ++rank) {
    EXPECT_EQ(exit_code(ranks[static_cast<std::size_t>(rank)]), 0)
        << program.name << ", rank " << rank;
  }
  EXPECT_EQ(exit_code(broker), 0);
  return read_report(folder / "report");
}

}  // namespace symmcts::platform::abi::test
