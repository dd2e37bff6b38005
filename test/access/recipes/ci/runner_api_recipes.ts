/**
 * Requests for the rows about the runner protocol, where a runner or job token identifies the caller and the person
 * does not count.
 */
import { randomBytes } from 'node:crypto';
import { hashToken } from '../../../../src/core/access/credentials/token_text.ts';
import { hashJobToken, newJobToken } from '../../../../src/ci/jobs/token.ts';
import { defaultFacts } from '../../../../src/ci/runners/rules.ts';
import { freshJob } from '../../makers/ci_makers.ts';
import type { Maker } from '../../makers/makers.ts';
import type { Recipe } from '../recipes.ts';
import { insertAll } from '../../makers/bulk_rows.ts';
import type { Names } from '../../world.ts';

/** A runner of no project, for which there are no jobs. */
const idleRunner: Maker = async (tx, cells) => {
  const times = { contacted_at: null, created_at: tx.now, updated_at: tx.now };
  const rows = cells.map(({ names }) => {
    const token = `glrt-${randomBytes(15).toString('base64url')}`;
    names['runner_token'] = token;
    const hash = { token_hash: hashToken(token), token_start: 'glrt-' };
    return { ...defaultFacts, ...hash, runner_type: 'project_type' as const, creator_id: null, ...times };
  });
  await insertAll(tx, 'runners', rows);
};

const jobToken: Maker = async (tx, cells) => {
  for (const { names } of cells) {
    const token = newJobToken(randomBytes);
    names['job_token'] = token;
    await tx.db
      .updateTable('jobs')
      .set({ token_hash: hashJobToken(token) })
      .where('id', '=', Number(names['job_id']))
      .execute();
  }
};

const path = { id: 'job_id' };
const makes = [freshJob({ status: 'running' }), jobToken];
const running: Recipe = { makes, path };
const another = 'another token';
const wrong = 'token=glcbt-wrong';

const token = ({ job_token }: Names) => ({ token: job_token });
const wrongToken = () => ({ token: 'glcbt-wrong' });

const file =
  '--x\r\nContent-Disposition: form-data; name="file"; filename="artifacts.zip"\r\n' +
  'Content-Type: application/octet-stream\r\n\r\nbytes\r\n--x--\r\n';

export const runnerApiRecipes: Record<string, Recipe> = {
  'POST /jobs/request': { makes: [idleRunner], body: ({ runner_token }) => ({ token: runner_token }) },
  [`POST /jobs/request {${another}}`]: { body: () => ({ token: 'glrt-wrong' }) },
  'PUT /jobs/:id': { ...running, body: (names) => ({ ...token(names), state: 'running' }) },
  [`PUT /jobs/:id {${another}}`]: { ...running, body: () => ({ ...wrongToken(), state: 'success' }) },
  // Without an offset in the log, a piece is refused only after authentication.
  'PATCH /jobs/:id/trace': { ...running, query: 'token=:job_token' },
  [`PATCH /jobs/:id/trace {${another}}`]: { ...running, query: wrong },
  'POST /jobs/:id/artifacts': { ...running, query: 'token=:job_token', form: file },
  [`POST /jobs/:id/artifacts {${another}}`]: { ...running, query: wrong, form: file },
  'POST /jobs/:id/artifacts/authorize': running,
  'GET /jobs/:id/artifacts': { ...running, query: 'token=:job_token' },
  [`GET /jobs/:id/artifacts {${another}}`]: { ...running, query: wrong },
};
