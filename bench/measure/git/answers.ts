/** Measures the answers to git clients without a real client: `info/refs`, and packs from the cache. */
import { mkdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { base } from '../../sites/root_api.ts';
import { type Figure, figure, percentile } from '../../measured_figures.ts';
import { type Site, commitAll, git, nodesOf, writeFiles } from '../../sites/git_site.ts';
import { cpuSeconds, ownCpuSeconds } from '../../process_usage.ts';

/** Milliseconds until the first byte of the answer, and until the last. */
const ask = async (
  { server, path }: Site,
  rest: string,
  body: Buffer | null,
): Promise<{ first: number; last: number; bytes: number }> => {
  const began = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(`${base(server.port)}/${path}.git/${rest}`, {
    method: body === null ? 'GET' : 'POST',
    headers: {
      'git-protocol': 'version=2',
      ...(body !== null && { 'content-type': 'application/x-git-upload-pack-request' }),
    },
  });
  sent.on('response', resolve).on('error', reject).end(body);
  const response = await promise;
  if (response.statusCode !== 200) throw new Error(`${rest} answered ${response.statusCode}`);
  let [bytes, first] = [0, 0];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes === 0) first = performance.now() - began;
    bytes += chunk.length;
  }
  return { first, last: performance.now() - began, bytes };
};

/** A line of git's protocol, after its length. */
export const packet = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

/** Builds a request for the whole history of a commit, like a clone. */
const wanting = (id: string): Buffer => {
  const lines = [packet('command=fetch'), packet('object-format=sha1'), '0001'];
  return Buffer.from(
    [...lines, packet('no-progress'), packet(`want ${id}`), packet('done'), '0000'].join(''),
  );
};

export const measureInfoRefs = async (site: Site): Promise<Figure[]> => {
  const { bench, server } = site;
  bench.progress('git: info/refs');
  const number = bench.rounds * 40;
  const before = cpuSeconds([server.pid]);
  const refs: number[] = [];
  for (let at = 0; at < number; at += 1)
    refs.push((await ask(site, 'info/refs?service=git-upload-pack', null)).last);
  const cpu = ((cpuSeconds([server.pid]) - before) / number) * 1e6;
  refs.sort((a, b) => a - b);
  return [
    figure('info/refs', 'ms', [percentile(refs, 0.5)], bench.goals.infoRefs),
    figure('info/refs, CPU', 'µs', [cpu]),
  ];
};

/** A branch with a separate history of one megabyte. */
const pushSmall = async ({ folder, url }: Site): Promise<string> => {
  const small = join(folder, 'small');
  mkdirSync(small);
  await git(small, 'init', '--quiet', '.');
  writeFiles(small, 1, 10);
  await commitAll(small, 'Small');
  await git(small, 'push', '--quiet', url, 'HEAD:refs/heads/small');
  return await git(small, 'rev-parse', 'HEAD');
};

export const measureCached = async (site: Site): Promise<Figure[]> => {
  const { bench, tree, server } = site;
  bench.progress('git: clones from the cache');
  const small = wanting(await pushSmall(site));
  const number = bench.rounds * 40;
  const cloneAll = async (): Promise<void> => {
    for (let at = 0; at < number; at += 1) await ask(site, 'git-upload-pack', small);
  };
  // Warm up, so that compilation is not measured.
  await cloneAll();
  const pids = nodesOf(server);
  const before = ownCpuSeconds(pids);
  await cloneAll();
  const cpu = ((ownCpuSeconds(pids) - before) / number) * 1e3;
  const body = wanting(await git(tree, 'rev-parse', 'pushed'));
  await ask(site, 'git-upload-pack', body);
  const answers = [];
  for (let at = 0; at < bench.rounds * 4; at += 1) answers.push(await ask(site, 'git-upload-pack', body));
  const megabytes = (answers[0]?.bytes ?? 0) / 1e6;
  return [
    figure(
      'clone of 1 MB from the pack cache, CPU of the service and gitd',
      'ms',
      [cpu],
      bench.goals.cachedClone,
    ),
    figure(
      `clone of ${megabytes.toFixed(1)} MB from the pack cache, until its first byte`,
      'ms',
      answers.map(({ first }) => first),
    ),
    figure(
      `clone of ${megabytes.toFixed(1)} MB from the pack cache`,
      'ms',
      answers.map(({ last }) => last),
    ),
  ];
};
