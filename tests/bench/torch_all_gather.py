"""NCCL's and PyTorch's all-gather of two ranks, for ci/bench: the same sizes and checks as all_gather_bench.

  torchrun --nproc-per-node 2 torch_all_gather.py [--rounds N] [--sizes BYTES...]

Multicast stays off: ci/bench sets the variables, and without them nothing is done.
"""
import argparse
import os
import statistics
import sys

OFF = {"TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NCCL_NVLS_ENABLE": "0", "NVSHMEM_DISABLE_NVLS": "1"}
WARM_UPS = 3


def main():
    wrong = [f"{name}={value}" for name, value in OFF.items() if os.environ.get(name) != value]
    if wrong:
        sys.exit(f"torch_all_gather.py: not set: {' '.join(wrong)}")
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+",
                        default=[64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20])
    options = parser.parse_args()

    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symm_mem

    rank = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    group = dist.group.WORLD

    def contribution(number, size):
        """Fresh bytes for a round; every rank can make those of each."""
        made = torch.Generator(device=device)
        made.manual_seed(number)
        return torch.randint(0, 256, (size,), dtype=torch.uint8, device=device, generator=made)

    def median(enqueue, source, size):
        times = []
        for number in range(options.rounds + WARM_UPS):
            expected = [contribution(2 * number + each, size) for each in (0, 1)]
            source.copy_(expected[rank])
            torch.cuda.synchronize()
            dist.barrier()
            torch.cuda.synchronize()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            found = enqueue()
            end.record()
            torch.cuda.synchronize()
            if not torch.equal(found.view(-1), torch.cat(expected)):
                sys.exit(f"torch_all_gather.py: rank {rank} has found wrong bytes")
            if number >= WARM_UPS:
                times.append(begin.elapsed_time(end) * 1e3)
        slower = torch.tensor([statistics.median(times)], device=device)
        dist.all_reduce(slower, op=dist.ReduceOp.MAX)
        return slower.item()

    if rank == 0:
        print(f"{'bytes':>12} {'NCCL':>12} {'PyTorch':>12}   us, median of {options.rounds}, torch "
              f"{torch.__version__}", flush=True)
    for size in options.sizes:
        source = symm_mem.empty(size, dtype=torch.uint8, device=device)
        symm_mem.rendezvous(source, group.group_name)
        out = torch.empty(2 * size, dtype=torch.uint8, device=device)

        def nccl():
            dist.all_gather_into_tensor(out, source)
            return out

        def low_contention():
            gathered = torch.ops.symm_mem._low_contention_all_gather(source, group.group_name)
            return torch.ops._c10d_functional.wait_tensor(gathered)

        times = [median(each, source, size) for each in (nccl, low_contention)]
        if rank == 0:
            print(f"{size:>12} {times[0]:>12.1f} {times[1]:>12.1f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
