/** Boards, their lists, and issues that are moved in them. */
import { unique } from '../../support/seed.ts';
import { insertAll, insertIssues } from '../makers/bulk_rows.ts';
import { type Cell, type Maker, freshIssue, freshLabel } from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';

const boardRow = ({ row, names }: Cell, now: number) => {
  const isOfGroup = row.kind === 'group';
  return {
    project_id: isOfGroup ? null : Number(names['project']),
    group_id: isOfGroup ? Number(names['group']) : null,
    name: unique('board'),
    milestone_id: null,
    assignee_id: null,
    created_at: now,
    updated_at: now,
  };
};

/** A board for each cell. */
const freshBoard: Maker = async (tx, cells) => {
  const ids = await insertAll(
    tx,
    'boards',
    cells.map((cell) => boardRow(cell, tx.now)),
  );
  cells.forEach((cell, at) => void (cell.names['board_id'] = ids[at] ?? 0));
};

/** A board for all cells of a place, which may have at most 100. */
const sharedBoard: Maker = async (tx, cells) => {
  const places = [...Map.groupBy(cells, ({ place }) => place).values()];
  const rows = places.flatMap((ofPlace) => ofPlace.slice(0, 1)).map((cell) => boardRow(cell, tx.now));
  const ids = await insertAll(tx, 'boards', rows);
  places.forEach((ofPlace, at) => {
    for (const { names } of ofPlace) names['board_id'] = ids[at] ?? 0;
  });
};

const freshList: Maker = async (tx, cells) => {
  const times = { created_at: tx.now, updated_at: tx.now };
  const rows = cells.map(({ names }) => ({
    board_id: Number(names['board_id']),
    label_id: Number(names['label_id']),
    assignee_id: null,
    milestone_id: null,
    position: 0,
    ...times,
  }));
  const ids = await insertAll(tx, 'board_lists', rows);
  cells.forEach((cell, at) => void (cell.names['list_id'] = ids[at] ?? 0));
};

/** An issue that everybody who sees the project's issues sees. */
const neighbour: Maker = async (tx, cells, { people }) => {
  const rows = cells.map(({ names, place }) => ({
    project_id: Number(names['project']),
    iid: (place.iids.issue += 1),
    author_id: people.writer,
  }));
  const ids = await insertIssues(tx, rows);
  cells.forEach((cell, at) => void (cell.names['neighbour'] = ids[at] ?? 0));
};

const withLabel = [sharedBoard, freshLabel];
const withList = [...withLabel, freshList];

const boardsOf = (owner: string): Record<string, Recipe> => {
  const board = `/${owner}/:id/boards/:board_id`;
  return {
    [`GET /${owner}/:id/boards`]: {
      makes: [sharedBoard],
      query: 'per_page=100',
      holds: (_item, names) => names['board_id'] !== undefined,
    },
    [`POST /${owner}/:id/boards`]: { body: () => ({ name: unique('board') }) },
    [`GET ${board}`]: { makes: [sharedBoard] },
    [`PUT ${board}`]: { makes: [sharedBoard], body: () => ({ name: 'Other' }) },
    [`DELETE ${board}`]: { makes: [freshBoard] },
    [`GET ${board}/lists`]: {
      makes: withList,
      query: 'per_page=100',
      holds: ({ id }, names) => id === names['list_id'],
    },
    [`POST ${board}/lists`]: { makes: withLabel, body: ({ label_id }) => ({ label_id }) },
    [`GET ${board}/lists/:list_id`]: { makes: withList },
    [`PUT ${board}/lists/:list_id`]: { makes: withList, body: () => ({ position: 0 }) },
    [`DELETE ${board}/lists/:list_id`]: { makes: withList },
  };
};

export const boardRecipes: Record<string, Recipe> = {
  ...boardsOf('projects'),
  ...boardsOf('groups'),
  'PUT /projects/:id/issues/:issue_iid/reorder': {
    makes: [freshIssue, neighbour],
    body: ({ neighbour: move_after_id }) => ({ move_after_id }),
  },
};
