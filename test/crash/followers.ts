/** Clients that follow the log of changes through restarts: as a stream, and by waiting requests. */
import { setTimeout as pause } from 'node:timers/promises';
import type { FailureLog } from './failure_log.ts';
import { call, token } from './process.ts';

const headers = { 'private-token': token };

export type Follower = {
  /** Ids of the changes that it was told, in order. */
  ids: number[];
  /** How often it connected again. */
  connections: number;
};

export type Following = {
  url: string;
  failed: FailureLog;
  until: AbortSignal;
};

/** Follows the stream of changes as `EventSource` does: where it ends or breaks, goes on after the latest id. */
export const followStream = async ({ url, failed, until }: Following, follower: Follower): Promise<void> => {
  let last = '0';
  const read = async (): Promise<void> => {
    const response = await fetch(`${url}/api/v4/changes`, {
      headers: { ...headers, accept: 'text/event-stream', 'last-event-id': last },
      signal: until,
    });
    follower.connections += 1;
    if (response.status !== 200 || response.body === null) {
      failed.add(`stream: ${response.status}`);
      return await pause(100);
    }
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const [, id] = /^id: (\d+)$/m.exec(event) ?? [];
        if (id !== undefined) last = id;
        if (id !== undefined && /^event: change$/m.test(event)) follower.ids.push(Number(id));
      }
    }
  };
  while (!until.aborted) await read().catch(async () => await pause(50));
};

/** Polls for changes, one waiting request after the other. */
export const pollChanges = async ({ url, failed, until }: Following, follower: Follower): Promise<void> => {
  let next = 0;
  while (!until.aborted) {
    try {
      const response = await fetch(`${url}/api/v4/changes?wait=30&after=${next}`, { headers, signal: until });
      follower.connections += 1;
      if (response.status !== 200) {
        failed.add(`poll: ${response.status}`);
        await pause(50);
        continue;
      }
      const body = (await response.json()) as { changes: { id: number }[]; next_after: number };
      follower.ids.push(...body.changes.map(({ id }) => id));
      next = body.next_after;
    } catch (error) {
      if (!until.aborted) failed.add(`poll: ${String(error)}`);
    }
  }
};

export const listChanges = async (url: string): Promise<number[]> => {
  const ids: number[] = [];
  for (let after = 0; ;) {
    const { body } = await call(url, `GET /changes?after=${after}`);
    ids.push(...(body.changes as { id: number }[]).map(({ id }) => id));
    if (body.next_after === after) return ids;
    after = body.next_after;
  }
};

export const untilAtEnd = async (url: string, followers: readonly Follower[]): Promise<void> => {
  const all = await listChanges(url);
  for (let polls = 0; polls < 600; polls += 1) {
    if (followers.every(({ ids }) => ids.at(-1) === all.at(-1))) return;
    await pause(100);
  }
};
