/** Endpoints of badges, written once for projects and groups. */
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { clearable, id as idParam, idOrPath, object, optional, text } from '../../platform/http/schema.ts';
import { createBadge } from './create.ts';
import { deleteBadge } from './delete.ts';
import { badgeJson, badgeShape, previewJson, previewShape } from './json.ts';
import { type BadgeOwnerKind, badgeOwnerKinds } from './owner.ts';
import { listBadges, loadBadge } from './queries.ts';
import { requireBadgeUrls } from './rules.ts';
import { updateBadge } from './update.ts';

const area = 'badges';
const url = (description: string) => text({ maxLength: 2_000, description });
const linkUrl = url('URL that the badge links to; may contain placeholders');
const imageUrl = url('URL of the image; may contain placeholders');
const name = optional(clearable(text()));

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
      const { rows, total } = await listBadges(call, owner.shown, {
        name: params.name,
        ...pageRequest(params),
      });
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
      requireBadgeUrls({ link_url, image_url });
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
      const badgeId = await createBadge(call, owner, { link_url, image_url, name: title });
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
      await updateBadge(call, owner, badge_id, edit);
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
      await deleteBadge(call, owner, badge_id);
    },
  });

export const badgesRoutes = badgeOwnerKinds.flatMap((kind) =>
  [list, render, show, create, update, remove].map((route) => route(kind)),
);
