/** Requests for the rows about badges, links between issues, statuses and rotated tokens. */
import { broadcastMessagesTopic } from '../../../src/doors/instance/broadcast_messages/queries.ts';
import { insertRow, insertRows } from '../../../src/platform/db/insert.ts';
import { randomBytes } from 'node:crypto';
import { generateTokenText } from '../../../src/core/access/credentials/token_text.ts';
import { insertToken } from '../../../src/identity/tokens/create.ts';
import { insertUser } from '../../../src/identity/users/create.ts';
import { unique } from '../../support/seed.ts';
import { insertGroups, insertIssues } from '../makers/bulk_rows.ts';
import {
  type Maker,
  anothersToken,
  freshGroup,
  freshIssue,
  freshProject,
  freshRequest,
  ownToken,
  passingToken,
} from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';

const addresses = { link_url: 'https://example.com/%{project_path}', image_url: 'https://example.com/a.svg' };

const badge =
  (owner: 'project' | 'group'): Maker =>
  async (tx, cells) => {
    const rows = cells.map(({ names }) => ({
      project_id: owner === 'project' ? Number(names['project']) : null,
      group_id: owner === 'group' ? Number(names['group']) : null,
      name: 'made',
      ...addresses,
      created_at: tx.now,
      updated_at: tx.now,
    }));
    const ids = await insertRows(tx.db, 'badges', rows, 'returning id');
    cells.forEach((cell, at) => void (cell.names['badge_id'] = ids[at]?.id ?? 0));
  };

const botToken =
  (owner: 'project' | 'group'): Maker =>
  async (tx, cells) => {
    for (const { names } of cells) {
      const source_id = Number(names[owner]);
      const source_type = owner === 'project' ? ('Project' as const) : ('Namespace' as const);
      const username = unique('bot');
      const user = { username, name: 'Made', email: `${username}@noreply.invalid`, password_hash: null };
      const user_id = await insertUser(tx, null, { ...user, external: 1 });
      await tx.db.insertInto('bots').values({ user_id, source_type, source_id }).execute();
      const token = { user_id, kind: 'personal' as const, name: 'made', scopes: ['api'], expires_at: null };
      names['token_id'] = await insertToken(tx, null, token, generateTokenText(randomBytes));
    }
  };

const accessTokens = (owner: 'project' | 'group', fresh: Maker): Record<string, Recipe> => {
  const path = `/${owner}s/:id/access_tokens`;
  const one = { makes: [fresh, botToken(owner)] };
  return {
    [`POST ${path}`]: { makes: [fresh], body: () => ({ name: 'made', scopes: ['api'], access_level: 10 }) },
    [`GET ${path}/:token_id`]: one,
    [`DELETE ${path}/:token_id`]: one,
    [`POST ${path}/:token_id/rotate`]: one,
  };
};

const deployToken =
  (owner: 'project' | 'group'): Maker =>
  async (tx, cells) => {
    for (const { names } of cells) {
      names['token_id'] = await insertRow(tx.db, 'deploy_tokens', {
        project_id: owner === 'project' ? Number(names['project']) : null,
        group_id: owner === 'group' ? Number(names['group']) : null,
        name: 'made',
        username: 'made',
        token_hash: unique('hash'),
        scopes: '["read_repository"]',
        expires_at: null,
        created_at: tx.now,
        last_used_at: null,
      });
    }
  };

const deployTokens = (owner: 'project' | 'group', fresh: Maker): Record<string, Recipe> => {
  const path = `/${owner}s/:id/deploy_tokens`;
  const one = { makes: [fresh, deployToken(owner)] };
  return {
    [`POST ${path}`]: { makes: [fresh], body: () => ({ name: 'made', scopes: ['read_repository'] }) },
    [`GET ${path}/:token_id`]: one,
    [`DELETE ${path}/:token_id`]: one,
  };
};

/** A public group without members of its own. */
const otherGroup: Maker = async (tx, cells, { top }) => {
  const [group] = await insertGroups(tx, top, 1, 'public');
  for (const { names } of cells) names['group_id'] = group?.id ?? 0;
};

const share =
  (owner: 'project' | 'group'): Maker =>
  async (tx, cells) => {
    for (const { names } of cells) {
      await insertRow(tx.db, 'group_links', {
        source_type: owner === 'project' ? 'Project' : 'Namespace',
        source_id: Number(names[owner]),
        group_id: Number(names['group_id']),
        group_access: 10,
        expires_at: null,
        created_at: tx.now,
      });
    }
  };

const shares = (owner: 'project' | 'group', fresh: Maker): Record<string, Recipe> => ({
  [`POST /${owner}s/:id/share`]: {
    makes: [fresh, otherGroup],
    body: ({ group_id }) => ({ group_id, group_access: 10 }),
  },
  [`DELETE /${owner}s/:id/share/:group_id`]: { makes: [fresh, otherGroup, share(owner)] },
});

const invitation =
  (owner: 'project' | 'group'): Maker =>
  async (tx, cells) => {
    for (const { names } of cells) {
      names['email'] = `${unique('invited')}@example.com`;
      await insertRow(tx.db, 'invitations', {
        source_type: owner === 'project' ? 'Project' : 'Namespace',
        source_id: Number(names[owner]),
        email: names['email'],
        access_level: 10,
        expires_at: null,
        created_by_id: null,
        created_at: tx.now,
      });
    }
  };

const invitations = (owner: 'project' | 'group', fresh: Maker): Record<string, Recipe> => {
  const path = `/${owner}s/:id/invitations`;
  return {
    [`POST ${path}`]: {
      makes: [fresh],
      body: () => ({ email: `${unique('invited')}@example.com`, access_level: 10 }),
    },
    [`PUT ${path}/:email`]: { makes: [fresh, invitation(owner)], body: () => ({ access_level: 10 }) },
    [`DELETE ${path}/:email`]: { makes: [fresh, invitation(owner)] },
  };
};

const badges = (owner: 'project' | 'group', fresh: Maker): Record<string, Recipe> => {
  const path = `/${owner}s/:id/badges`;
  return {
    [`GET ${path}`]: {
      makes: [badge(owner)],
      query: 'per_page=100',
      holds: ({ id }, { badge_id }) => id === badge_id,
    },
    [`GET ${path}/render`]: { query: 'link_url=https://example.com&image_url=https://example.com' },
    [`GET ${path}/:badge_id`]: { makes: [badge(owner)] },
    [`POST ${path}`]: { makes: [fresh], body: () => addresses },
    [`PUT ${path}/:badge_id`]: { makes: [fresh, badge(owner)], body: () => ({ name: 'other' }) },
    [`DELETE ${path}/:badge_id`]: { makes: [fresh, badge(owner)] },
  };
};

/** An issue that everybody sees, in a project where everybody is a reporter. */
const otherIssue: Maker = async (tx, cells, { people }) => {
  const project_id = Number(cells[0]?.names['haven']);
  const last = await tx.db
    .selectFrom('issues')
    .select((is) => is.fn.max('iid').as('iid'))
    .where('project_id', '=', project_id)
    .executeTakeFirst();
  // Far from the iids that moved issues take.
  const first = Math.max(last?.iid ?? 0, 1_000_000) + 1;
  const rows = cells.map((_cell, at) => ({
    project_id,
    iid: first + at,
    author_id: people.writer,
    confidential: 0 as const,
    deleted: false,
  }));
  const ids = await insertIssues(tx, rows);
  for (const [at, { names }] of cells.entries()) {
    names['other_issue_id'] = ids[at] ?? 0;
    names['other_issue_iid'] = first + at;
  }
};

const link: Maker = async (tx, cells) => {
  const rows = cells.map(({ names }) => ({
    source_id: Number(names['issue_id']),
    target_id: Number(names['other_issue_id']),
    link_type: 'relates_to' as const,
    created_at: tx.now,
    updated_at: tx.now,
  }));
  const ids = await insertRows(tx.db, 'issue_links', rows, 'returning id');
  cells.forEach((cell, at) => void (cell.names['issue_link_id'] = ids[at]?.id ?? 0));
};

const topic: Maker = async (tx, cells) => {
  const times = { created_at: tx.now, updated_at: tx.now };
  for (const { names } of cells) {
    for (const key of ['topic_id', 'other_topic_id']) {
      const name = unique('topic');
      const row = { name, folded_name: name, title: name, is_described: 1 as const, ...times };
      names[key] = await insertRow(tx.db, 'topics', row);
    }
  }
};

const broadcastMessage: Maker = async (tx, cells) => {
  for (const { names } of cells) {
    names['broadcast_message'] = await insertRow(tx.db, 'broadcast_messages', {
      message: 'Made',
      starts_at: 0,
      ends_at: tx.now + 3_600_000,
      color: null,
      font: null,
      theme: 'indigo',
      target_access_levels: '[]',
      target_path: null,
      broadcast_type: 'banner',
      dismissable: 1,
      created_at: tx.now,
      updated_at: tx.now,
    });
  }
  tx.broadcast(broadcastMessagesTopic);
};

const storageMove: Maker = async (tx, cells) => {
  for (const { names } of cells)
    names['storage_move'] = await insertRow(tx.db, 'repository_moves', {
      project_id: Number(names['project']),
      user_id: null,
      state: 'finished',
      source_storage: 'default',
      source_path: '',
      destination_storage: 'second',
      destination_path: '',
      error: null,
      created_at: tx.now,
      updated_at: tx.now,
    });
};

const ofStorageMove = {
  makes: [freshProject, storageMove],
  path: { repository_storage_move_id: 'storage_move' },
};

const ofMessage = { makes: [broadcastMessage], path: { id: 'broadcast_message' } };

const ofTopic = { makes: [topic], path: { id: 'topic_id' } };

const links = '/projects/:id/issues/:issue_iid/links';
const tokens = '/personal_access_tokens';

export const smallCallRecipes: Record<string, Recipe> = {
  ...badges('project', freshProject),
  ...badges('group', freshGroup),
  ...shares('project', freshProject),
  ...shares('group', freshGroup),
  ...invitations('project', freshProject),
  ...invitations('group', freshGroup),
  ...deployTokens('project', freshProject),
  ...deployTokens('group', freshGroup),
  ...accessTokens('project', freshProject),
  ...accessTokens('group', freshGroup),
  'GET /project_repository_storage_moves/:repository_storage_move_id': ofStorageMove,
  'POST /project_repository_storage_moves': { body: () => ({ source_storage_name: 'second' }) },
  'GET /projects/:id/repository_storage_moves/:repository_storage_move_id': ofStorageMove,
  'POST /projects/:id/repository_storage_moves': { makes: [freshProject] },
  'GET /broadcast_messages/:id': ofMessage,
  'POST /broadcast_messages': { body: () => ({ message: 'Made' }) },
  'PUT /broadcast_messages/:id': { ...ofMessage, body: () => ({ message: 'Other' }) },
  'DELETE /broadcast_messages/:id': ofMessage,
  'GET /topics/:id': ofTopic,
  'POST /topics': { body: () => ({ name: unique('topic') }) },
  'PUT /topics/:id': { ...ofTopic, body: () => ({ description: 'Other' }) },
  'DELETE /topics/:id': ofTopic,
  'POST /topics/merge': {
    makes: [topic],
    body: ({ topic_id, other_topic_id }) => ({ source_topic_id: topic_id, target_topic_id: other_topic_id }),
  },
  [`GET ${links}`]: {
    makes: [freshIssue, otherIssue, link],
    holds: ({ id }, { other_issue_id }) => id === other_issue_id,
  },
  [`GET ${links}/:issue_link_id`]: { makes: [freshIssue, otherIssue, link] },
  [`POST ${links}`]: {
    makes: [freshIssue, otherIssue],
    body: ({ haven, other_issue_iid }) => ({ target_project_id: haven, target_issue_iid: other_issue_iid }),
  },
  [`DELETE ${links}/:issue_link_id`]: { makes: [freshIssue, otherIssue, link] },
  'PUT /projects/:id/merge_requests/:merge_request_iid/reset_approvals': { makes: [freshRequest] },
  [`POST ${tokens}/self/rotate`]: { makes: [passingToken] },
  [`POST ${tokens}/:id/rotate {own}`]: { makes: [ownToken] },
  [`POST ${tokens}/:id/rotate {another's}`]: { makes: [anothersToken] },
  'GET /projects/:id/feature_flags/:feature_flag_name': { path: { feature_flag_name: 'writer' } },
  'GET /namespaces/:id/exists': { path: { id: 'writer' } },
  'PUT /user/status': { body: () => ({ message: 'Away' }) },
  'GET /users/:id/status': { path: { id: 'writer' } },
  'GET /users/:id/memberships': { path: { id: 'writer' } },
};
