/** Endpoints of badges, written once for projects and groups. */
import type { RawBuilder } from 'kysely';
import { type Call, requireActor } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { compareColumns } from '../../core/events/compare_columns.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import { type Problems, invalid, notFound, nothingToChange } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { clearable, id as idParam, idOrPath, object, optional, text } from '../../platform/http/schema.ts';
import { type BadgeRow, badgeJson, badgeShape, previewJson, previewShape } from './json.ts';
import { type BadgeOwner, type BadgeOwnerKind, badgeOwnerKinds } from './owner.ts';

const area = 'badges';
const url = (description: string) => text({ maxLength: 2_000, description });
const linkUrl = url('URL that the badge links to; may contain placeholders');
const imageUrl = url('URL of the image; may contain placeholders');
const name = optional(clearable(text()));
const quota = { what: 'badges', most: 100 };

/** Requires an absolute address by HTTP. Placeholders count as any text. @throws Failure 400 */
const checkUrls = (urls: { link_url?: string | undefined; image_url?: string | undefined }): void => {
  const problems: Problems = {};
  for (const [key, value] of Object.entries(urls)) {
    if (value === undefined) continue;
    const isValid = /^https?:\/\/\S+$/i.test(value) && URL.canParse(value.replaceAll(/%\{[a-z_]+\}/g, 'x'));
    if (!isValid) problems[key] = ['is not a valid URL'];
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
};

const loadBadge = async (
  { db }: Pick<Call, 'db'>,
  where: RawBuilder<boolean>,
  badgeId: number,
): Promise<BadgeRow> => {
  const row = await db
    .selectFrom('badges')
    .selectAll()
    .where(where)
    .where('id', '=', badgeId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Badge');
  return row;
};

/** Records a change of a badge of a project or a group. */
const recordBadge = async (
  tx: Tx,
  call: Call,
  { columns: { project_id, group_id } }: BadgeOwner,
  { verb, id, data = {} }: { verb: 'created' | 'updated' | 'deleted'; id: number; data?: object },
): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind: `badge.${verb}`,
    project_id,
    target_type: 'Badge',
    target_id: id,
    data: { ...data, ...(group_id !== null && { group_id }) },
  });

const getPath = ({ plural }: BadgeOwnerKind): string => `/${plural}/:id/badges`;

const getParams = ({ noun }: BadgeOwnerKind) => ({ id: idOrPath(`id or full path of the ${noun}`) });

const written = { area, audience: 'user', reply: badgeShape } as const;

const list = (kind: BadgeOwnerKind) =>
  endpoint({
    method: 'GET',
    path: getPath(kind),
    summary: `List badges of a ${kind.noun}`,
    area,
    audience: 'optional',
    list: true,
    params: object({
      ...getParams(kind),
      name: optional(text({ description: 'exact name' })),
      ...pageParams,
    }),
    reply: badgeShape,
    handle: async (call, params) => {
      const owner = await kind.find(call, params.id);
      const query = call.db
        .selectFrom('badges')
        .where(owner.shown)
        .$if(params.name !== undefined, (badges) => badges.where('name', '=', params.name ?? ''));
      const { limit, offset } = pageRequest(params);
      const [rows, { total }] = await Promise.all([
        query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
        query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      ]);
      return { items: rows.map((row) => badgeJson(row, owner.placeholders)), total };
    },
  });

const render = (kind: BadgeOwnerKind) =>
  endpoint({
    method: 'GET',
    path: `${getPath(kind)}/render`,
    summary: `Preview a badge of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({ ...getParams(kind), link_url: linkUrl, image_url: imageUrl, name }),
    reply: previewShape,
    handle: async (call, { id, link_url, image_url }) => {
      const owner = await kind.findToChange(call, id);
      checkUrls({ link_url, image_url });
      return previewJson({ link_url, image_url }, owner.placeholders);
    },
  });

const show = (kind: BadgeOwnerKind) =>
  endpoint({
    method: 'GET',
    path: `${getPath(kind)}/:badge_id`,
    summary: `Get a badge of a ${kind.noun}`,
    area,
    audience: 'optional',
    params: object({ ...getParams(kind), badge_id: idParam() }),
    reply: badgeShape,
    handle: async (call, params) => {
      const owner = await kind.find(call, params.id);
      return badgeJson(await loadBadge(call, owner.shown, params.badge_id), owner.placeholders);
    },
  });

const create = (kind: BadgeOwnerKind) =>
  endpoint({
    method: 'POST',
    path: getPath(kind),
    summary: `Add a badge to a ${kind.noun}`,
    ...written,
    params: object({ ...getParams(kind), link_url: linkUrl, image_url: imageUrl, name }),
    handle: async (call, { id, link_url, image_url, name: title = null }) => {
      const owner = await kind.findToChange(call, id);
      checkUrls({ link_url, image_url });
      const badgeId = await call.write(async (tx) => {
        await requireRecordQuota(tx.db.selectFrom('badges').where(owner.own), quota);
        const times = { created_at: tx.now, updated_at: tx.now };
        const row = { ...owner.columns, name: title, link_url, image_url, ...times };
        const made = await insertRow(tx.db, 'badges', row);
        await recordBadge(tx, call, owner, { verb: 'created', id: made });
        return made;
      });
      return badgeJson(await loadBadge(call, owner.own, badgeId), owner.placeholders);
    },
  });

const update = (kind: BadgeOwnerKind) =>
  endpoint({
    method: 'PUT',
    path: `${getPath(kind)}/:badge_id`,
    summary: `Update a badge of a ${kind.noun}`,
    ...written,
    params: object({
      ...getParams(kind),
      badge_id: idParam(),
      link_url: optional(linkUrl),
      image_url: optional(imageUrl),
      name,
    }),
    handle: async (call, { id, badge_id, ...edit }) => {
      const owner = await kind.findToChange(call, id);
      const before = await loadBadge(call, owner.own, badge_id);
      const { name: title, ...urls } = edit;
      if (Object.keys(edit).length === 0) throw nothingToChange(['link_url', 'image_url', 'name']);
      checkUrls(urls);
      const set = { ...urls, ...(title !== undefined && { name: title }) };
      const { data } = compareColumns(before, set);
      await call.write(async (tx) => {
        const updated = await tx.db
          .updateTable('badges')
          .set({ ...set, updated_at: tx.now })
          .where('id', '=', badge_id)
          .returning('id')
          .executeTakeFirst();
        if (updated === undefined) throw notFound('Badge');
        await recordBadge(tx, call, owner, { verb: 'updated', id: badge_id, data });
      });
      return badgeJson(await loadBadge(call, owner.own, badge_id), owner.placeholders);
    },
  });

const remove = (kind: BadgeOwnerKind) =>
  endpoint({
    method: 'DELETE',
    path: `${getPath(kind)}/:badge_id`,
    summary: `Delete a badge of a ${kind.noun}`,
    ...written,
    reply: null,
    params: object({ ...getParams(kind), badge_id: idParam() }),
    handle: async (call, { id, badge_id }) => {
      const owner = await kind.findToChange(call, id);
      const badge = await loadBadge(call, owner.own, badge_id);
      await call.write(async (tx) => {
        const removed = await tx.db
          .deleteFrom('badges')
          .where('id', '=', badge_id)
          .returning('id')
          .executeTakeFirst();
        if (removed === undefined) throw notFound('Badge');
        const data = { name: badge.name, link_url: badge.link_url, image_url: badge.image_url };
        await recordBadge(tx, call, owner, { verb: 'deleted', id: badge_id, data });
      });
    },
  });

export const badgesRoutes = badgeOwnerKinds.flatMap((kind) =>
  [list, render, show, create, update, remove].map((route) => route(kind)),
);
