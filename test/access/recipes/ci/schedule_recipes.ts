/** Requests for the rows about schedules and triggers. */
import { seal } from '../../../../src/core/access/credentials/encrypt_secrets.ts';
import { hashToken } from '../../../../src/core/access/credentials/token_text.ts';
import { unique } from '../../../support/seed.ts';
import { type Maker, selfOf, projectOf, nameAll } from '../../makers/makers.ts';
import type { Recipe } from '../recipes.ts';
import { insertAll } from '../../makers/bulk_rows.ts';

/** A schedule whose time never comes. */
const schedule =
  (by: 'self' | 'writer', active: 0 | 1 = 1): Maker =>
  async (tx, cells, world) => {
    const rows = cells.map((cell) => ({
      project_id: projectOf(cell),
      owner_id: by === 'self' ? selfOf(cell, world) : world.people.writer,
      description: 'Made',
      ref: 'topic',
      cron: '0 0 * * *',
      cron_timezone: 'UTC',
      active,
      next_run_at: null,
      last_pipeline_id: null,
      created_at: tx.now,
      updated_at: tx.now,
    }));
    nameAll(cells, 'pipeline_schedule_id', await insertAll(tx, 'pipeline_schedules', rows));
  };

const itsVariable: Maker = async (tx, cells, { gantry }) => {
  const { encryption_key } = gantry.service.platform.secrets;
  const rows = cells.map(({ names }) => ({
    schedule_id: Number(names['pipeline_schedule_id']),
    key: (names['key'] = 'KEY'),
    sealed_value: seal(encryption_key, 'schedule variable', 'x'),
  }));
  if (rows.length > 0) await tx.db.insertInto('pipeline_schedule_variables').values(rows).execute();
};

const trigger =
  (by: 'self' | 'writer'): Maker =>
  async (tx, cells, world) => {
    const { encryption_key } = world.gantry.service.platform.secrets;
    const tokens = cells.map(() => unique('glptt'));
    const rows = cells.map((cell, at) => ({
      project_id: projectOf(cell),
      owner_id: by === 'self' ? selfOf(cell, world) : world.people.writer,
      description: 'Made',
      token_hash: hashToken(tokens[at] ?? ''),
      sealed_token: seal(encryption_key, 'trigger', tokens[at] ?? ''),
      last_used_at: null,
      created_at: tx.now,
      updated_at: tx.now,
    }));
    nameAll(cells, 'trigger_id', await insertAll(tx, 'triggers', rows));
    cells.forEach(({ names }, at) => void (names['token_text'] = tokens[at] ?? ''));
  };

const schedules = '/projects/:id/pipeline_schedules';
const one = `${schedules}/:pipeline_schedule_id`;
const variables = `${one}/variables`;
const triggers = '/projects/:id/triggers';

const holds =
  (key: string): NonNullable<Recipe['holds']> =>
  ({ id }, names) =>
    id === names[key];

const made = (ref: string) => () => ({ description: 'Made', ref, cron: '0 0 * * *' });

/** Of own records and of other people's. */
const both = (line: string, makes: Maker[], body?: () => object): Record<string, Recipe> => ({
  [`${line} {own}`]: { makes: [schedule('self'), ...makes], ...(body && { body }) },
  [`${line} {another's}`]: { makes: [schedule('writer'), ...makes], ...(body && { body }) },
});

const nowhere = (token?: string): Recipe => ({
  makes: [trigger('writer')],
  path: { ref: 'token_text' },
  body: (names) => ({ token: token ?? names['token_text'], ref: 'nowhere' }),
});

const runs = ['/projects/:id/trigger/pipeline', '/projects/:id/ref/:ref/trigger/pipeline'];

export const scheduleRecipes: Record<string, Recipe> = {
  [`GET ${schedules}`]: {
    makes: [schedule('writer', 0)],
    query: 'scope=inactive&per_page=100',
    holds: holds('pipeline_schedule_id'),
  },
  [`GET ${one}`]: { makes: [schedule('writer')] },
  [`GET ${one}/pipelines`]: { makes: [schedule('writer')] },
  [`POST ${schedules}`]: { body: made('topic') },
  [`POST ${schedules} {of a protected branch}`]: { body: made('main') },
  ...both(`PUT ${one}`, [], () => ({ description: 'Other' })),
  ...both(`DELETE ${one}`, []),
  ...both(`POST ${one}/take_ownership`, []),
  [`POST ${one}/play`]: { makes: [schedule('writer')] },
  ...both(`POST ${variables}`, [], () => ({ key: 'KEY', value: 'x' })),
  ...both(`PUT ${variables}/:key`, [itsVariable], () => ({ value: 'y' })),
  ...both(`DELETE ${variables}/:key`, [itsVariable]),
  [`GET ${triggers}`]: { makes: [trigger('writer')], query: 'per_page=100', holds: holds('trigger_id') },
  [`GET ${triggers}/:trigger_id`]: { makes: [trigger('writer')] },
  [`POST ${triggers}`]: { body: () => ({ description: 'Made' }) },
  [`PUT ${triggers}/:trigger_id {own}`]: {
    makes: [trigger('self')],
    body: () => ({ description: 'Other' }),
  },
  [`PUT ${triggers}/:trigger_id {another's}`]: {
    makes: [trigger('writer')],
    body: () => ({ description: 'Other' }),
  },
  [`DELETE ${triggers}/:trigger_id`]: { makes: [trigger('writer')] },
  ...Object.fromEntries(runs.map((path) => [`POST ${path} {its token}`, nowhere()])),
  ...Object.fromEntries(runs.map((path) => [`POST ${path} {another token}`, nowhere('glptt-none')])),
};
