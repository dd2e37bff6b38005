/** Requests for the rows about hooks. */
import { randomUUID } from 'node:crypto';
import { insertRow } from '../../../src/platform/db/insert.ts';
import type { Tx } from '../../../src/platform/db/open.ts';
import { eventFlagNames } from '../../../src/outgoing/hooks/event_flags.ts';
import { sealValues } from '../../../src/outgoing/hooks/secrets.ts';
import type { Cell, Maker } from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';

type Owner = { project_id: number | null; group_id: number | null };
type Further = { url?: string; sealed_custom_headers?: string | null; sealed_url_variables?: string | null };

const insertHook = async (tx: Tx, owner: Owner, further: Further = {}): Promise<number> => {
  const flags = Object.fromEntries(eventFlagNames.map((name) => [name, 0 as const]));
  const { id } = await tx.db
    .insertInto('hooks')
    .values({
      ...owner,
      url: 'http://127.0.0.1:9/',
      enable_ssl_verification: 1,
      branch_filter_strategy: 'wildcard',
      uuid: randomUUID(),
      created_at: tx.now,
      updated_at: tx.now,
      ...(flags as { push_events: 0 } & Record<string, 0>),
      ...further,
    } as never)
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
};

const ownerOf = ({ row, names }: Cell): Owner => ({
  project_id: row.kind === 'project' ? Number(names['project']) : null,
  group_id: row.kind === 'group' ? Number(names['group']) : null,
});

/** A hook of the cell's project, group or instance. */
const hook: Maker = async (tx, cells) => {
  for (const cell of cells) {
    cell.names['trigger'] = 'issues_events';
    cell.names['hook_id'] = await insertHook(tx, ownerOf(cell));
  }
};

/** A hook with a header and a variable. */
const hookWithValues: Maker = async (tx, cells, { gantry }) => {
  const values = sealValues(gantry.service.platform, { made: 'x' });
  const further = {
    url: 'https://hooks.example.com/',
    sealed_custom_headers: values,
    sealed_url_variables: values,
  };
  for (const cell of cells) {
    cell.names['key'] = 'made';
    cell.names['hook_id'] = await insertHook(tx, ownerOf(cell), further);
  }
};

const ofValue: Recipe = { makes: [hookWithValues] };
const settingValue: Recipe = { ...ofValue, body: () => ({ value: 'y' }) };

/** A delivery of the cell's hook. */
const log: Maker = async (tx, cells) => {
  for (const { names } of cells) {
    names['event_id'] = await insertRow(tx.db, 'hook_logs', {
      hook_id: Number(names['hook_id']),
      delivery_uuid: randomUUID(),
      event_uuid: randomUUID(),
      trigger_name: 'push',
      event_name: 'Push Hook',
      url: 'http://127.0.0.1:9/',
      request_headers: '{}',
      request_data: '{}',
      response_headers: '{}',
      response_body: '',
      response_status: null,
      error: null,
      execution_duration: 0,
      created_at: tx.now,
    });
  }
};

const body = () => ({ url: 'https://hooks.example.com/' });

const recipesOf = (path: string): Record<string, Recipe> => ({
  [`POST ${path}`]: { body },
  [`GET ${path}/:hook_id`]: { makes: [hook] },
  [`PUT ${path}/:hook_id`]: { makes: [hook], body },
  [`DELETE ${path}/:hook_id`]: { makes: [hook] },
  [`GET ${path}/:hook_id/events`]: { makes: [hook] },
  [`POST ${path}/:hook_id/events/:event_id/resend`]: { makes: [hook, log] },
  [`PUT ${path}/:hook_id/custom_headers/:key`]: settingValue,
  [`DELETE ${path}/:hook_id/custom_headers/:key`]: ofValue,
  [`PUT ${path}/:hook_id/url_variables/:key`]: settingValue,
  [`DELETE ${path}/:hook_id/url_variables/:key`]: ofValue,
  // Nothing listens there.
  [`POST ${path}/:hook_id/test/:trigger`]: { makes: [hook] },
});

export const hookRecipes: Record<string, Recipe> = {
  ...recipesOf('/projects/:id/hooks'),
  ...recipesOf('/groups/:id/hooks'),
  ...recipesOf('/hooks'),
  'POST /hooks/:hook_id': { makes: [hook] },
};
