/** Measures artifacts: upload, download, one file of an archive, and packing. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32, deflateRawSync } from 'node:zlib';
import { type Peer, type PeerJob, makePeer } from '../../../test/support/ci/fake_runner.ts';
import { writeZip } from '../../../zip/write_zip.ts';
import { base } from '../../sites/root_api.ts';
import type { Bench } from '../../bench.ts';
import { makeCiProject, makeRunner, manyJobs } from '../../sites/ci_site.ts';
import { type Figure, figure, median } from '../../measured_figures.ts';
import { memoryOf } from '../../process_usage.ts';
import { type Running, rootToken, startService } from '../../service.ts';

const large = 90;
const entries = { number: 20_000, bytes: 2_000 };

type Site = { bench: Bench; server: Running; project: number; peer: Peer; folder: string };

const timed = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

/** The peak memory of the service during an action, minus its memory before. */
const watched = async ({ server }: Site, work: () => Promise<unknown>): Promise<number> => {
  const rss = (): number => memoryOf(server.pid, false).rss;
  const before = rss();
  let [most, isOver] = [before, false];
  const watch = async (): Promise<void> => {
    while (!isOver) {
      most = Math.max(most, rss());
      await wait(20);
    }
  };
  const watching = watch();
  await work();
  isOver = true;
  await watching;
  return most - before;
};

/** Writes the same bytes to a local file with fsync, and reads them, for comparison. */
const plainFile = (folder: string, bytes: Buffer): { up: () => void; down: () => void } => {
  const file = join(folder, 'plain');
  return {
    up: () => {
      const handle = openSync(file, 'w');
      writeSync(handle, bytes);
      fsyncSync(handle);
      closeSync(handle);
    },
    down: () => void readFileSync(file),
  };
};

const measureLarge = async (site: Site): Promise<Figure[]> => {
  const { bench, peer, folder } = site;
  const bytes = randomBytes(large * 1e6);
  const plain = plainFile(folder, bytes);
  const waits: Record<'up' | 'down' | 'plainUp' | 'plainDown', number[]> = {
    up: [],
    down: [],
    plainUp: [],
    plainDown: [],
  };
  const memory: Record<'up' | 'down', number[]> = { up: [], down: [] };
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`artifacts: round ${round} of ${bench.rounds}`);
    const job = await peer.take();
    const up = async (): Promise<void> => {
      const { status } = await peer.upload(job, bytes, { type: 'archive', format: 'raw' });
      if (status !== 201) throw new Error(`the upload answered ${status}`);
    };
    const down = async (): Promise<void> => {
      const answer = await peer.download(job.token, job.id);
      if (answer.bytes.length !== bytes.length) throw new Error(`the download answered ${answer.status}`);
    };
    memory.up.push(await watched(site, async () => waits.up.push(await timed(up))));
    memory.down.push(await watched(site, async () => waits.down.push(await timed(down))));
    waits.plainUp.push(await timed(plain.up));
    waits.plainDown.push(await timed(plain.down));
  }
  const name = (way: string): string => `artifact of ${large} MB ${way}`;
  const rate = (way: string, all: number[]): Figure =>
    figure(
      `${name(way)}, MB`,
      '/s',
      all.map((ms) => (large * 1000) / ms),
    );
  return [
    rate('up', waits.up),
    figure(name('up'), 'ms', waits.up, { ...bench.goals.ciArtifact, floor: median(waits.plainUp) }),
    figure(`${name('up')}, memory`, 'MB', memory.up, bench.goals.memoryArtifact),
    rate('down', waits.down),
    figure(name('down'), 'ms', waits.down, { ...bench.goals.ciArtifact, floor: median(waits.plainDown) }),
    figure(`${name('down')}, memory`, 'MB', memory.down, bench.goals.memoryArtifact),
  ];
};

const contents = (): Buffer[] =>
  Array.from({ length: entries.number }, (_none, at) =>
    Buffer.concat([randomBytes(entries.bytes / 2), Buffer.alloc(entries.bytes / 2, `file ${at} `)]),
  );

const nameOf = (at: number): string => `folder-${at % 100}/file-${at}.txt`;

const pack = async (all: readonly Buffer[]): Promise<Buffer> => {
  const modified = new Date('2026-03-04T05:06:08Z');
  const files = all.map((content, at) => ({
    name: nameOf(at),
    kind: 'file' as const,
    mode: 0o644,
    modified,
    content,
  }));
  const chunks: Buffer[] = [];
  for await (const chunk of writeZip(files) as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const packBare = (all: readonly Buffer[]): void => {
  for (const content of all) {
    crc32(content);
    deflateRawSync(content);
  }
};

const measurePacking = async (bench: Bench): Promise<{ archive: Buffer; figures: Figure[] }> => {
  const all = contents();
  let archive = await pack(all);
  const [waits, floors]: [number[], number[]] = [[], []];
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`zip: round ${round} of ${bench.rounds}`);
    waits.push(await timed(async () => (archive = await pack(all))));
    floors.push(await timed(() => packBare(all)));
  }
  const wish = { ...bench.goals.ciZip, floor: median(floors) };
  return { archive, figures: [figure(`zip of ${entries.number} files of 2 KB`, 'ms', waits, wish)] };
};

const oneFile = async ({ server, project }: Site, { id }: PeerJob, at: number): Promise<void> => {
  const url = `${base(server.port)}/api/v4/projects/${project}/jobs/${id}/artifacts/${nameOf(at)}`;
  const answer = await fetch(url, { headers: { 'private-token': rootToken } });
  const { byteLength } = await answer.arrayBuffer();
  if (byteLength !== entries.bytes) throw new Error(`one file answered ${answer.status}`);
};

const measureOneFile = async (site: Site, archive: Buffer): Promise<Figure[]> => {
  const { bench, peer } = site;
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let round = 0; round <= bench.rounds; round += 1) {
    bench.progress(`one file of an archive: round ${round} of ${bench.rounds}`);
    const job = await peer.take();
    const { status } = await peer.upload(job, archive, { type: 'archive', format: 'zip' });
    if (status !== 201) throw new Error(`the upload answered ${status}`);
    const first = await timed(async () => await oneFile(site, job, 12_345));
    if (round === 0) continue; // what serves it is loaded
    cold.push(first);
    warm.push(await timed(async () => await oneFile(site, job, 54)));
  }
  const name = `one file of an archive of ${entries.number}`;
  return [
    figure(`${name}, first of it`, 'ms', cold, bench.goals.ciOneFile),
    figure(`${name}, another`, 'ms', warm),
  ];
};

export const measureCiArtifacts = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('ci_artifacts')) return [];
  const packed = await measurePacking(bench);
  const location = await bench.databases.empty();
  const folder = join(location.data, '..');
  const server = await startService(location);
  try {
    const { id } = await makeCiProject(server.port, 'artifacts', manyJobs(2 * bench.rounds + 2));
    const peer = makePeer({ url: base(server.port) }, { token: await makeRunner(server.port) });
    const site: Site = { bench, server, project: id, peer, folder };
    const files = await measureOneFile(site, packed.archive);
    const transfers = await measureLarge(site);
    peer.close();
    return [...transfers, ...files, ...packed.figures];
  } finally {
    await server.stop();
    rmSync(join(folder, 'plain'), { force: true });
  }
};
