#!/usr/bin/env python3
"""Longest path through recorded Kineto profiles, and changed copies of them.

An independent second implementation of the rules that src/workload/importers/kineto_graph.hpp
documents, for tests: it reads the raw profile, not our workload file, and shares no code with the
importer. Standard library only.

  critical_path.py span PROFILE... [--kernel-factor K] [--without-gaps DEVICE:STREAM]
      one line a profile: the GPU span in ns after all kernels last K times as long, or after the
      ops of one stream follow each other without recorded gaps and lags
  critical_path.py change PROFILE OUT [--shift MICROSECONDS] [--shuffle SEED] [--reverse-keys]
      a copy with all times shifted, its events in another order, the keys of each event reversed
"""

import argparse
import bisect
import gzip
import json
import random
import re
from decimal import Decimal

KERNEL = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "copy", "Memcpy": "copy",
          "gpu_memset": "fill", "Memset": "fill"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime", "hip_runtime"}
RANGES = {"user_annotation", "cpu_op", "Operator"}
BLOCKING = {"stream", "device", "event", "free"}
REACTION = 20_000


def read(path):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data, parse_float=str)


def nanoseconds(value):
    return value * 1000 if isinstance(value, int) else int((Decimal(value) * 1000).to_integral())


def communicates(name):
    if any(word in name for word in ("nccl", "rccl", "::ep::internode", "nvshmem")):
        return True
    plain = name.lower().replace("_", "")
    return "allreduce" in plain and "oneshot" in plain


def call_kind(name):
    name = re.sub("^(cuda|hip|cu)", "", name)
    for word, kind in (("Memcpy", "copy"), ("StreamWaitEvent", "stream_wait"),
                       ("StreamSynchronize", "stream"), ("DeviceSynchronize", "device"),
                       ("EventSynchronize", "event"), ("Free", "free")):
        if name.startswith(word) and not name.startswith("FreeAsync"):
            return kind
    return "other"


class Profile:
    """The events that matter, times in ns since the window's start."""

    def __init__(self, path):
        document = read(path)
        events = document if isinstance(document, list) else document["traceEvents"]
        self.gpu, self.calls, self.steps, self.ranges, self.syncs = [], [], [], [], []
        for event in events:
            if event.get("ph") == "X":
                self.sort_in(event)
        self.link()
        self.shift()

    def sort_in(self, event):
        category, name = event.get("cat"), event["name"]
        arguments = event.get("args", {})
        if category == "cuda_sync":
            self.syncs.append(arguments)
            return
        if category not in KERNEL and category not in CALLS and category not in RANGES:
            return
        start = nanoseconds(event["ts"])
        end = start + nanoseconds(event.get("dur", 0))
        thread = (str(event["pid"]), str(event["tid"]))
        if category in KERNEL:
            if start or end:
                self.gpu.append({"start": start, "end": end, "name": name,
                                 "kind": KERNEL[category], "corr": arguments["correlation"],
                                 "lane": (arguments["device"], arguments["stream"])})
        elif category in CALLS:
            self.calls.append({"start": start, "end": end, "thread": thread,
                               "corr": arguments.get("correlation", 0), "kind": call_kind(name),
                               "ops": []})
        elif name.startswith("ProfilerStep"):
            self.steps.append({"start": start, "end": end, "thread": thread, "name": name})
        elif name.startswith("nccl:") or name == "record_param_comms":
            self.ranges.append((thread, start, end))

    def link(self):
        self.gpu.sort(key=lambda op: (op["start"], op["lane"], op["end"], op["corr"], op["name"]))
        by_corr = {}
        for call in sorted(self.calls, key=lambda c: (c["start"], -c["end"])):
            by_corr.setdefault(call["corr"], call)
        for op in self.gpu:
            op["call"] = by_corr.get(op["corr"])
            op["launched"] = op["call"]["start"] if op["call"] else op["start"]
            op["waits"], op["node"] = False, None
            if op["call"]:
                op["call"]["ops"].append(op)
        for sync in self.syncs:
            call = by_corr.get(sync["correlation"])
            recorder = by_corr.get(sync.get("wait_on_cuda_event_record_corr_id"))
            if call:
                call["sync"] = (sync, recorder)
        self.mark_waits()

    def mark_waits(self):
        """A stream-wait call counts for the next launch, unless it is the library's own."""
        closed = []
        for op in self.gpu:
            if op["kind"] == "kernel" and communicates(op["name"]) and op["call"]:
                call = op["call"]
                around = [end for thread, start, end in self.ranges
                          if thread == call["thread"] and start <= call["start"] <= end]
                if around:
                    closed.append((call["thread"], call["start"], max(around)))
        launches = sorted((c for c in self.calls if c["ops"]), key=lambda c: c["start"])
        starts = [call["start"] for call in launches]
        self.waits, self.known = [], []
        for call in self.calls:
            if call["kind"] != "stream_wait":
                continue
            sync, recorder = call.get("sync", (None, None))
            if sync and sync.get("cuda_sync_kind") == "Stream Wait Event":
                self.known.append({"lane": (sync["device"], sync["stream"]),
                                   "source": (sync["device"], sync["wait_on_stream"]),
                                   "call": call, "recorder": recorder or call})
                continue
            if any(t == call["thread"] and after < call["start"] <= until
                   for t, after, until in closed):
                continue
            self.waits.append(call)
            index = bisect.bisect_left(starts, call["start"])
            if index < len(launches):
                for op in launches[index]["ops"]:
                    op["waits"] = True

    def shift(self):
        kept = [c for c in self.calls if c["ops"] or c["kind"] in BLOCKING]
        zero = min([o["start"] for o in self.gpu] + [c["start"] for c in kept] +
                   [s["start"] for s in self.steps])
        for thing in self.gpu + self.calls + self.steps:
            thing["start"] -= zero
            thing["end"] -= zero
        for op in self.gpu:
            op["launched"] -= zero
        self.kept = kept


class Graph:
    """Nodes [kind, stream, gap, duration, after, end]; `after` holds [node, lag]."""

    def __init__(self, profile):
        self.profile = profile
        self.nodes, self.stream_last = [], {}
        self.lanes = {}
        for op in profile.gpu:
            self.lanes.setdefault(op["lane"], []).append(op)
        for ops in self.lanes.values():
            ops.sort(key=lambda op: op["launched"])
        self.launch_times = {k: [op["launched"] for op in ops] for k, ops in self.lanes.items()}
        self.thread_time, self.thread_node, self.thread_launch = {}, {}, {}
        self.waited, self.lane_launch = {}, {}
        self.wait_starts = sorted(call["start"] for call in profile.waits)
        instants, position = self.instants(), 0
        for op in profile.gpu:
            while position < len(instants) and instants[position][0] <= op["start"]:
                self.instant(*instants[position])
                position += 1
            self.add_gpu(op)
        for instant in instants[position:]:
            self.instant(*instant)

    def instants(self):
        found = []
        for call in self.profile.kept:
            found.append((call["start"], call["thread"], 3, call["corr"], call))
            own = call["kind"] == "copy" and call["ops"] and \
                call["start"] <= call["ops"][0]["end"] <= call["end"]
            if call["kind"] in BLOCKING or own:
                late = 0 if call["end"] > call["start"] else 4
                found.append((call["end"], call["thread"], late, call["corr"], call))
        for step in self.profile.steps:
            found.append((step["end"], step["thread"], 1, -1, step))
            found.append((step["start"], step["thread"], 2, -1, step))
        order = {}
        for entry in sorted(found, key=lambda e: (e[0], e[2], e[3])):
            order.setdefault(entry[1], len(order))
        return sorted(found, key=lambda e: (e[0], order[e[1]], e[2], e[3]))

    def add(self, kind, stream, gap, duration, after, end):
        self.nodes.append([kind, stream, gap, duration, after, end])
        self.stream_last[stream] = len(self.nodes) - 1
        return len(self.nodes) - 1

    # Host.

    def host(self, thread, time, force):
        since, after = self.thread_time.get(thread, 0), []
        other = max((t for k, t in self.thread_time.items() if k != thread), default=-1)
        if other > self.thread_time.get(thread, -1):
            owner = [k for k, t in self.thread_time.items() if k != thread and t == other][0]
            since, after = other, [[self.thread_node[owner], 0]]
        if force or time > self.thread_time.get(thread, 0) or after:
            self.thread_node[thread] = self.add("host", thread, 0, time - since, after, time)
            self.thread_time[thread] = time

    def instant(self, time, thread, kind, _, what):
        if kind in (1, 2):
            self.host(thread, time, False)
            self.thread_node[thread] = self.add("host", thread, 0, 0, [], time)
            self.thread_time[thread] = time
        elif kind == 3:
            self.host(thread, time, bool(what["ops"]))
            if what["ops"]:
                what["node"] = self.thread_node[thread]
                self.thread_launch[thread] = what
        else:
            ops = self.blockers(what, thread)
            if ops:
                since = max([self.thread_time.get(thread, 0)] + [op["end"] for op in ops])
                after = [[op["node"], 0] for op in ops]
                self.thread_node[thread] = self.add("wait", thread, 0, time - since, after, time)
                self.thread_time[thread] = time

    def done(self, op, by):
        return op is not None and op["end"] <= by and op["node"] is not None

    def launched_before(self, lane, time):
        return self.lanes[lane][:bisect.bisect_left(self.launch_times[lane], time)]

    def latest_ended(self, lane, launched_before, by):
        for op in reversed(self.launched_before(lane, launched_before)):
            if self.done(op, by):
                return op
        return None

    def blockers(self, call, thread):
        called, by = call["start"], call["end"]
        if call["kind"] == "copy":
            return [call["ops"][0]] if self.done(call["ops"][0], by) else []
        sync, recorder = call.get("sync", (None, None))
        kind = sync["cuda_sync_kind"] if sync else None
        if call["kind"] == "device" or kind == "Context Sync":
            found = [self.latest_ended(lane, called, by) for lane in sorted(self.lanes)]
            return [op for op in found if op]
        if kind == "Stream Sync":
            lane = (sync["device"], sync["stream"])
            found = self.latest_ended(lane, called, by) if lane in self.lanes else None
        elif kind == "Event Sync":
            lane = (sync["device"], sync["wait_on_stream"])
            before = recorder["start"] if recorder else called
            found = self.latest_ended(lane, before, by) if lane in self.lanes else None
        else:
            found = self.guess(call, thread)
        if found is None or (call["kind"] == "free" and found["end"] <= called):
            return []
        return [found]

    def guess(self, call, thread):
        called, by = call["start"], call["end"]
        last = self.thread_launch.get(thread)
        if call["kind"] != "event" and last and last["kind"] == "copy" and \
                self.done(last["ops"][0], by):
            return last["ops"][0]
        best = None
        for lane in sorted(self.lanes):
            if call["kind"] == "event":
                op = self.latest_ended(lane, called, by)
            else:
                op = (self.launched_before(lane, called) or [None])[-1]
            if self.done(op, by) and (best is None or op["end"] > best["end"]):
                best = op
        return best

    # GPU.

    def add_gpu(self, op):
        lane = op["lane"]
        before = self.stream_last.get(lane)
        stream_end = self.nodes[before][5] if before is not None else 0
        latest, after = stream_end, []
        if op["call"] and op["launched"] <= op["start"]:
            after.append([op["call"]["node"], 0])
            latest = max(latest, op["launched"])
        for other in self.stream_waits(op, before, latest):
            after.append([other["node"], 0])
            latest = max(latest, other["end"])
        gap, slack = 0, op["start"] - latest
        if latest == stream_end and (before is not None or not after):
            gap = slack
        else:
            for edge in after:
                edge[1] = slack if self.nodes[edge[0]][5] == latest else 0
        op["node"] = self.add(op["kind"], lane, gap, op["end"] - op["start"], after, op["end"])

    def stream_waits(self, op, before, latest):
        lane, found = op["lane"], []
        since = self.lane_launch.get(lane, -1) if before is not None else -1
        self.lane_launch[lane] = op["launched"]
        for wait in sorted(self.profile.known, key=lambda w: w["call"]["start"]):
            if wait["lane"] == lane and since < wait["call"]["start"] <= op["launched"] and \
                    wait["source"] in self.lanes:
                self.wait_for(op, wait["source"], wait["recorder"]["start"], found)
        every = op["waits"] or (op["kind"] == "kernel" and communicates(op["name"]))
        index = bisect.bisect_right(self.wait_starts, since)
        perhaps = index < len(self.wait_starts) and self.wait_starts[index] <= op["launched"]
        for other in sorted(self.lanes):
            if other == lane or other[0] != lane[0] or not (every or perhaps):
                continue
            candidate = self.latest_ended(other, op["launched"], op["start"])
            if every or (candidate and candidate["end"] > latest and
                         op["start"] - candidate["end"] <= REACTION):
                self.wait_for(op, other, op["launched"], found)
        return found

    def wait_for(self, op, source, launched_before, found):
        other = self.latest_ended(source, launched_before, op["start"])
        key = (op["lane"], source)
        if other and other["node"] > self.waited.get(key, -1):
            self.waited[key] = other["node"]
            found.append(other)

    def span(self, kernel_factor, tight):
        """Longest path: first GPU start to last GPU end."""
        ends, last, first, final = [], {}, None, 0
        for kind, stream, gap, duration, after, _ in self.nodes:
            close = stream == tight
            start = last.get(stream, 0) + (0 if close else gap)
            for node, lag in after:
                start = max(start, ends[node] + (0 if close else lag))
            end = start + duration * (kernel_factor if kind == "kernel" else 1)
            ends.append(end)
            last[stream] = end
            if kind in ("kernel", "copy", "fill"):
                first = start if first is None else min(first, start)
                final = max(final, end)
        return final - first


def change(arguments):
    document = read(arguments.profile)
    events = document if isinstance(document, list) else document["traceEvents"]
    for event in events:
        if arguments.shift and "ts" in event:
            value = event["ts"]
            whole = isinstance(value, int)
            event["ts"] = value + arguments.shift if whole else str(Decimal(value) + arguments.shift)
    if arguments.shuffle is not None:
        random.Random(arguments.shuffle).shuffle(events)
    if arguments.reverse_keys:
        events[:] = [dict(reversed(list(event.items()))) for event in events]
        if isinstance(document, dict):
            document = dict(reversed(list(document.items())))
    text = json.dumps(document)
    # Fractional numbers were read as text to keep every digit: take the quotes off again.
    text = re.sub(r'"(ts|dur)": "(-?[0-9.]+(?:[eE][-+]?[0-9]+)?)"', r'"\1": \2', text)
    with open(arguments.out, "w", encoding="utf-8") as out:
        out.write(text)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    span = commands.add_parser("span")
    span.add_argument("profiles", nargs="+")
    span.add_argument("--kernel-factor", type=int, default=1)
    span.add_argument("--without-gaps", default="")
    span.set_defaults(run=lambda a: [
        print(Graph(Profile(path)).span(
            a.kernel_factor,
            tuple(map(int, a.without_gaps.split(":"))) if a.without_gaps else None))
        for path in a.profiles])
    changed = commands.add_parser("change")
    changed.add_argument("profile")
    changed.add_argument("out")
    changed.add_argument("--shift", type=int, default=0)
    changed.add_argument("--shuffle", type=int)
    changed.add_argument("--reverse-keys", action="store_true")
    changed.set_defaults(run=change)
    arguments = parser.parse_args()
    arguments.run(arguments)


main()
