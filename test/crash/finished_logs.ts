/** Jobs with a log whose end the service acknowledges. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { makePeer } from '../support/ci/fake_runner.ts';
import { call, token } from './process.ts';

export type FinishedLog = { job: number; log: string };

const project = '/projects/root%2Fbuilt';
const config = 'work:\n  script: [echo done]\n  rules: [{ if: $CI_PIPELINE_SOURCE == "api" }]\n';

const create = async (url: string, path: string, json: object) => {
  const { status, body } = await call(url, `POST ${path}`, json);
  assert.equal(status, 201, `${path}: ${JSON.stringify(body)}`);
  return body;
};

/** Makes a project with a pipeline. @returns the token of a runner */
export const prepareJobs = async (url: string): Promise<string> => {
  await create(url, '/projects', { name: 'built' });
  await create(url, `${project}/repository/commits`, {
    branch: 'main',
    commit_message: 'Add a pipeline',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: config }],
  });
  return (await create(url, '/user/runners', { runner_type: 'instance_type' })).token;
};

/** Runs a job; null: the service was gone before it acknowledged the end. */
export const finishJob = async (url: string, runner: string): Promise<FinishedLog | null> => {
  const peer = makePeer({ url }, { token: runner });
  try {
    await create(url, `${project}/pipeline`, { ref: 'main' });
    const job = await peer.take();
    // Several blocks of the disk, which differ from any other log.
    const log = `${randomBytes(12_000).toString('base64')}\n`;
    const [traced, ended] = [await peer.trace(job, log), await peer.finish(job)];
    return traced.status === 202 && ended.status === 200 ? { job: job.id, log } : null;
  } catch {
    return null;
  } finally {
    peer.close();
  }
};

/** Compares every finished log with what the service answers. */
export const checkLogs = async (url: string, logs: readonly FinishedLog[]): Promise<void> => {
  for (const { job, log } of logs) {
    const address = `${url}/api/v4${project}/jobs/${job}/trace`;
    const answer = await fetch(address, { headers: { 'private-token': token } });
    assert.ok((await answer.text()) === log, `the log of job ${job}, which had ended, is not as it was`);
  }
};
