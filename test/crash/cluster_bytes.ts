/** Files and projects that a load writes in a cluster, by the storage of the project. */
import { setTimeout as wait } from 'node:timers/promises';
import { makeProjectIn } from './cluster_clients.ts';
import { type FailureLog, newFailureLog } from './failure_log.ts';
import type { Ledger, State } from './ledger.ts';
import { call, token } from './process.ts';

/** Bytes that a request acknowledged, and the path by which they are read again. */
export type Kept = { path: string; text: string };

/** Reads what was kept, as text. */
export const readKept = async (url: string, path: string): Promise<string> => {
  const response = await fetch(`${url}/api/v4${path}`, { headers: { 'private-token': token } });
  return response.status === 200 ? await response.text() : `status ${response.status}`;
};

/** Commits files, each a new one. Returns the one that was acknowledged; null: none. */
export const commitFile = async (url: string, project: number, name: string): Promise<Kept | null> => {
  const path = `/projects/${project}/repository/files/${name}`;
  const json = { branch: 'main', content: name, commit_message: `Add ${name}` };
  const { status } = await call(url, `POST ${path}`, json);
  return status === 201 ? { path: `${path}/raw?ref=main`, text: name } : null;
};

export const upload = async (url: string, project: number, name: string): Promise<Kept | null> => {
  const body = new FormData();
  body.set('file', new Blob([name]), 'a.txt');
  const headers = { 'private-token': token };
  const response = await fetch(`${url}/api/v4/projects/${project}/uploads`, {
    method: 'POST',
    headers,
    body,
  });
  if (response.status !== 201) return null;
  const { url: address } = (await response.json()) as { url: string };
  return { path: `/projects/${project}${address}`, text: name };
};

/** Projects by the storage of their repository. */
export type Projects = Map<string, number[]>;

export const listProjects = (projects: Projects): number[] => [...projects.values()].flat();

/** By the storage of the project. */
export type FailureLogs = ReadonlyMap<string, FailureLog>;

export const newFailureLogs = (projects: Projects): FailureLogs =>
  new Map([...projects.keys()].map((storage) => [storage, newFailureLog()]));

export const listAll = (logs: FailureLogs): string[] => [...logs.values()].flatMap((log) => log.list());

type Writer = (url: string, project: number, name: string) => Promise<Kept | null>;

/** Writes bytes one after another until the signal is aborted; failed writes are not retried. */
export const writeBytes = async (
  write: Writer,
  { url, projects }: { url: string; projects: Projects },
  failed: FailureLogs,
  { name, until }: { name: string; until: AbortSignal },
): Promise<Kept[]> => {
  const kept: Kept[] = [];
  const all = [...projects].flatMap(([storage, ids]) => ids.map((id) => ({ storage, id })));
  for (let count = 0; !until.aborted; count += 1) {
    const { storage = '', id = 0 } = all[count % all.length] ?? {};
    const one = await write(url, id, `${name}-${count}`).catch(() => null);
    if (one !== null) kept.push(one);
    else {
      failed.get(storage)?.add(`${name} in ${storage}`);
      await wait(50);
    }
  }
  return kept;
};

/** Makes projects with an issue each, which is read and not changed. */
export const makeProjects = async (url: string, ledger: Ledger): Promise<Projects> => {
  const projects: Projects = new Map([
    ['default', []],
    ['other', []],
  ]);
  for (const name of ['one', 'two', 'three'])
    for (const [storage, ids] of projects) {
      const { id: project } = await makeProjectIn(url, storage, {
        name: `${name}-${storage}`,
        initialize_with_readme: true,
      });
      const read = { title: 'To be read', description: 'by all', confidential: false };
      const issue = await call(url, `POST /projects/${project}/issues`, { ...read, labels: 'load' });
      const acknowledged: State = { ...read, state: 'opened', time_spent: 0, notes: [] };
      ledger.entries.push({ project, iid: Number(issue.body.iid), acknowledged, pending: null });
      ids.push(project);
    }
  return projects;
};
