/**
 * The cost of a list of jobs, counted instead of timed: statements and repository calls per request, and on SQLite
 * the query plans, over a project with some thousand jobs of which nearly all have succeeded.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loggedRequest } from '../support/request_log.ts';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import type { Repository } from '../../src/platform/git/repository.ts';
import { recordStatements } from '../support/record_statements.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';
import { type Skewed, makeSkewed } from './skewed.ts';
import { fillJobs, jobListsOf } from './skewed_jobs.ts';

const mostStatements = 8;

let gantry: TestService;
let skewed: Skewed;
let pipeline: number;
let stop: () => void;

/** Every statement that reads jobs, or what stands beside them. */
const texts = new Set<string>();
/** Calls to repositories. */
const asked: string[] = [];

const recordAsked = ({ service: { platform } }: TestService): void => {
  const { repository } = platform.git;
  platform.git.repository = (...args) => {
    const found = repository(...args);
    const ask: Repository['ask'] = async (method, ...rest) => {
      asked.push(method);
      return await found.ask(method, ...rest);
    };
    return { ...found, ask };
  };
};

/** The use of a token is recorded after the first request with it. */
const useIsNoted = async (userId: number): Promise<void> => {
  const noted = gantry.service.platform.store.db
    .selectFrom('tokens')
    .select('id')
    .where('user_id', '=', userId)
    .where('last_used_at', 'is not', null);
  while ((await noted.executeTakeFirst()) === undefined) await wait(10);
};

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  skewed = await makeSkewed(gantry);
  pipeline = await fillJobs(gantry, skewed);
  await gantry.api('GET /version', { as: skewed.user.token });
  await useIsNoted(skewed.user.id);
  recordAsked(gantry);
  stop = recordStatements((text) => {
    if (/^\s*select\b/i.test(text) && /\bfrom\s+"?(?:jobs|artifacts|pipelines)\b/i.test(text))
      texts.add(text);
  });
});
after(async () => {
  stop();
  await gantry.close();
});

const statementsOf = async (path: string): Promise<number> => {
  const { status, text, headers } = await gantry.api(`GET ${path}`, { as: skewed.user.token });
  assert.equal(status, 200, text);
  return (await loggedRequest(gantry, headers)).statements;
};

test('lists jobs in at most eight statements and one repository call, whatever the page length', async () => {
  for (const path of jobListsOf(skewed, pipeline)) {
    for (const per_page of [3, 100]) {
      asked.length = 0;
      const statements = await statementsOf(`${path}&per_page=${per_page}`);
      assert.ok(statements <= mostStatements, `${path}: ${statements} statements for a page of ${per_page}`);
      assert.ok(asked.length <= 1, `${path}: ${asked.join()}`);
    }
  }
});

test('reads one job in at most eight statements and one repository call', async () => {
  const { body } = await gantry.api(`GET /projects/${skewed.project.id}/jobs?per_page=1`);
  asked.length = 0;
  const statements = await statementsOf(`/projects/${skewed.project.id}/jobs/${body[0].id}`);
  assert.ok(statements <= mostStatements, `${statements} statements`);
  assert.deepEqual(asked, ['commits.get']);
});

const plansOf = (database: DatabaseSync): Map<string, string[]> =>
  new Map(
    [...texts].map((text) => {
      const rows = database.prepare(`explain query plan ${text}`).all() as { detail: string }[];
      return [text, rows.map(({ detail }) => detail)];
    }),
  );

/** Whether the plan sorts only the rows of the page or before it, the jobs of one pipeline, or those that run. */
const maySort = (text: string): boolean =>
  /\bunion all\b/.test(text) ||
  /"pipeline_id" = /.test(text) ||
  /"status" in \('running', 'canceling'\)/.test(text) ||
  /from "artifacts"/.test(text);

const faultsOf = (database: DatabaseSync): [string, string][] =>
  [...plansOf(database)].flatMap(([text, plan]) => {
    const scans = plan.filter((detail) => /^SCAN (?:jobs|pipelines|artifacts)\b/.test(detail));
    const sorts = maySort(text) ? [] : plan.filter((detail) => detail.includes('TEMP B-TREE'));
    return [...scans, ...sorts].map((detail): [string, string] => [detail, text]);
  });

test(
  'scans all jobs for no list, and sorts only what is on its page or before it, with or without statistics',
  { skip: engine !== 'sqlite' },
  async () => {
    for (const path of jobListsOf(skewed, pipeline)) {
      await gantry.api(`GET ${path}&per_page=5`, { as: skewed.user.token });
    }
    const database = new DatabaseSync(join(gantry.service.platform.config.data, 'gantry.sqlite'));
    const walks = [...plansOf(database)].filter(([text]) => text.includes('as newest'));
    assert.ok(walks.length >= 3, `${walks.length} walks were seen`);
    for (const [text, plan] of walks) {
      assert.ok(
        plan.some((detail) => /SEARCH jobs USING (?:COVERING )?INDEX jobs_project/.test(detail)),
        `${plan.join('\n')}\n${text}`,
      );
    }
    assert.deepEqual(faultsOf(database), []);
    database.exec('analyze');
    assert.deepEqual(faultsOf(database), []);
    database.close();
  },
);
