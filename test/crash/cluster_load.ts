/** Requests that must succeed while services of a cluster are restarted, and followers that must miss nothing. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster, Part } from './cluster.ts';
import { type FailureLog, newFailureLog } from './failure_log.ts';
import { type Follower, followStream, listChanges, pollChanges, untilAtEnd } from './followers.ts';
import { call, token } from './process.ts';

type Load = {
  url: string;
  project: number;
  failed: FailureLog;
  until: AbortSignal;
};

const headers = { 'private-token': token };

const fetchStatus = async (url: string, line: string, json?: object): Promise<string> => {
  const [method = '', path = ''] = line.split(' ');
  try {
    const response = await fetch(`${url}/api/v4${path}`, {
      method,
      headers: { ...headers, ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    await response.text();
    return String(response.status);
  } catch (error) {
    const { message, cause } = error as Error;
    return `${message} ${String(cause)}`;
  }
};

/** Sends one request after the other, each of which must succeed. @returns their number */
export const sendRequests = async (
  { url, project, failed, until }: Load,
  lines: readonly string[],
): Promise<number> => {
  let count = 0;
  for (; !until.aborted; count += 1) {
    const line = lines[count % lines.length]?.replace(':id', String(project)) ?? '';
    const json = line.startsWith('POST') ? { title: `Issue ${count}` } : undefined;
    const status = await fetchStatus(url, line, json);
    if (status === '200' || status === '201') continue;
    failed.add(`${line}: ${status}`);
    await pause(50);
  }
  return count;
};

/** Reads of issues, which need the database alone. */
export const issueReads = ['GET /projects/:id/issues', 'GET /projects/:id/issues/1'];

/** Reads of code, which need the storage of the project, too. */
export const codeReads = [
  'GET /projects/:id/repository/files/README.md/raw?ref=main',
  'GET /projects/:id/repository/commits',
];

const lines = ['POST /projects/:id/issues', ...issueReads, ...codeReads];

export const listServices = ({ parts }: Cluster): Part[] =>
  parts.filter(({ isService }) => isService === true);

export const listStorages = ({ parts }: Cluster): Part[] =>
  parts.filter(({ name }) => name.startsWith('storage '));

const addProject = async (url: string): Promise<number> => {
  const { status, body } = await call(url, 'POST /projects', { name: 'p', initialize_with_readme: true });
  assert.equal(status, 201);
  await call(url, `POST /projects/${body.id}/issues`, { title: 'First' });
  return Number(body.id);
};

type ClusterLoad = {
  failed: FailureLog;
  /** How often the followers connected. */
  followers: { stream: Follower; polled: Follower };
  /** Ends the load, and asserts that those who follow have every change. @returns figures */
  finish: () => Promise<{ requests: number; changes: number }>;
  /** Ends the load where the test has failed. */
  abort: () => void;
};

/** Starts senders of requests, each with another order of them, and two who follow the log of changes. */
export const startLoad = async (url: string, senders: number): Promise<ClusterLoad> => {
  const project = await addProject(url);
  const failed = newFailureLog();
  const [load, following] = [new AbortController(), new AbortController()];
  const stream: Follower = { ids: [], connections: 0 };
  const polled: Follower = { ids: [], connections: 0 };
  const ends = [
    followStream({ url, failed, until: following.signal }, stream),
    pollChanges({ url, failed, until: following.signal }, polled),
  ];
  const working = Array.from({ length: senders }, async (_one, at) => {
    const first = at % lines.length;
    const order = [...lines.slice(first), ...lines.slice(0, first)];
    return await sendRequests({ url, project, failed, until: load.signal }, order);
  });
  return {
    failed,
    followers: { stream, polled },
    abort: () => {
      load.abort();
      following.abort();
    },
    finish: async () => {
      load.abort();
      const counts = await Promise.all(working);
      await untilAtEnd(url, [stream, polled]);
      following.abort();
      await Promise.all(ends);
      const all = await listChanges(url);
      assert.deepEqual(stream.ids, all, 'the stream');
      assert.deepEqual(polled.ids, all, 'the polls');
      return { requests: counts.reduce((sum, count) => sum + count, 0), changes: all.length };
    },
  };
};
