/** Requests for the rows about events. */
import { insertRows } from '../../../src/platform/db/insert.ts';
import { type Maker, targetOf } from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';

/** A project's creation, in the project and by the user of these names. */
const activity =
  (project: string, author: string): Maker =>
  async (tx, cells) => {
    const rows = cells.map(({ names }) => ({
      created_at: tx.now,
      project_id: Number(names[project]),
      author_id: Number(names[author]),
      action: 'created' as const,
      target_type: null,
      target_id: null,
      subject_type: 'Project' as const,
      subject_id: null,
      data: '{}',
    }));
    const ids = await insertRows(tx.db, 'activities', rows, 'returning id');
    cells.forEach((cell, at) => void (cell.names['activity'] = ids[at]?.id ?? 0));
  };

const resourceEvent =
  (kind: 'state' | 'label' | 'milestone'): Maker =>
  async (tx, cells, { people }) => {
    const rows = cells.map((cell) => ({
      kind,
      ...targetOf(cell),
      user_id: people.writer,
      action: kind === 'state' ? ('closed' as const) : ('add' as const),
      label_id: null,
      milestone_id: null,
      created_at: tx.now,
    }));
    const ids = await insertRows(tx.db, 'resource_events', rows, 'returning id');
    cells.forEach((cell, at) => void (cell.names['resource_event_id'] = ids[at]?.id ?? 0));
  };

const isActivity: Recipe['holds'] = ({ id }, { activity: made }) => id === made;

const ofTargets = ['issues/:issue_iid', 'merge_requests/:merge_request_iid'].flatMap((target) =>
  (['state', 'label', 'milestone'] as const).map((kind): [string, Recipe] => [
    `GET /projects/:id/${target}/resource_${kind}_events/:resource_event_id`,
    { makes: [resourceEvent(kind)] },
  ]),
);

// There is one for each person.
const query = 'per_page=100';

export const eventRecipes: Record<string, Recipe> = {
  'GET /projects/:id/events': { makes: [activity('project', 'writer')], query, holds: isActivity },
  'GET /users/:user_id/contributed_projects': {
    makes: [activity('personal', 'host')],
    path: { user_id: 'host' },
    query,
    holds: ({ id }, { personal }) => id === personal,
  },
  'GET /users/:id/events': {
    makes: [activity('personal', 'host')],
    path: { id: 'host' },
    query,
    holds: isActivity,
  },
  ...Object.fromEntries(ofTargets),
};
