/** Creates a repository on the service and the same one for plain git, to measure the transport of git. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gitEnvironment } from '../../test/support/repositories/git.ts';
import { api } from './root_api.ts';
import type { Bench } from '../bench.ts';
import { treeOf } from '../process_usage.ts';
import { type Running, rootToken } from '../service.ts';

const run = promisify(execFile);

const runIn = async (cwd: string, program: string, args: string[]): Promise<string> => {
  const options = { cwd, env: gitEnvironment(), maxBuffer: 2 ** 26 };
  return (await run(program, args, options)).stdout.trim();
};

export const git = async (cwd: string, ...args: string[]): Promise<string> => await runIn(cwd, 'git', args);

/** Runs on the other core, so that it takes no CPU from the measured processes. */
export const gitAside = async (cwd: string, ...args: string[]): Promise<string> =>
  await runIn(cwd, 'nice', ['-n', '19', 'git', ...args]);

export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

/** Megabytes of its files, and how many there are. */
const size = 15;
const files = 150;

export type Site = {
  bench: Bench;
  server: Running;
  folder: string;
  tree: string;
  /** With a token in it. */
  url: string;
  path: string;
  /** The same repository as plain git has it. */
  bare: string;
};

export const newProject = async (port: number, name: string): Promise<string> =>
  (await api<{ path_with_namespace: string }>(port, 'POST /projects', { name, visibility: 'public' }))
    .path_with_namespace;

export const urlOf = (port: number, path: string): string =>
  `http://x:${rootToken}@127.0.0.1:${port}/${path}.git`;

/** Half of a file's bytes repeat, like those of source code. */
export const writeFiles = (tree: string, megabytes: number, number: number): void => {
  const each = (megabytes * 1e6) / number;
  for (let at = 0; at < number; at += 1) {
    const folder = join(tree, `folder-${at % 10}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${at}.txt`), randomBytes(each));
  }
};

export const commitAll = async (tree: string, message: string): Promise<void> => {
  await git(tree, 'add', '--all');
  await git(tree, 'commit', '--quiet', '--message', message);
};

export const prepareSite = async (bench: Bench, server: Running, folder: string): Promise<Site> => {
  bench.progress('git: making a repository');
  const [tree, bare] = [join(folder, 'tree'), join(folder, 'plain.git')];
  mkdirSync(tree);
  await git(tree, 'init', '--quiet', '.');
  await git(tree, 'config', 'core.compression', '0');
  writeFiles(tree, size, files);
  await commitAll(tree, 'First');
  const path = await newProject(server.port, 'usual');
  const url = urlOf(server.port, path);
  await git(tree, 'push', '--quiet', url, 'HEAD:refs/heads/main');
  await git(folder, 'clone', '--quiet', '--bare', `file://${tree}`, bare);
  return { bench, server, folder, tree, url, path, bare };
};

/** The service and gitd, without the git processes that come and go. */
export const nodesOf = (server: Running): number[] => treeOf(server.pid).slice(0, 2);
