import type { Selectable } from 'kysely';
import type { BadgesTable } from '../../platform/db/schema/projects.ts';
import { int, nullable, object, string } from '../../platform/http/schema.ts';

const links = {
  link_url: string,
  image_url: string,
  rendered_link_url: string,
  rendered_image_url: string,
};

/** A badge that is only shown, not stored. */
export const previewShape = object(links);

export const badgeShape = object({ name: nullable(string), ...links, id: int, kind: string });

export type BadgeRow = Selectable<BadgesTable>;

/** Values of the placeholders of a badge; placeholders of missing values are kept. */
export type Placeholders = Record<string, string>;

/** Replaces `%{project_path}` and the like; unknown placeholders stay. */
const fillIn = (url: string, values: Placeholders): string =>
  url.replaceAll(/%\{([a-z_]+)\}/g, (whole, name: string) => values[name] ?? whole);

export const previewJson = (
  { link_url, image_url }: Pick<BadgeRow, 'link_url' | 'image_url'>,
  values: Placeholders,
) => ({
  link_url,
  image_url,
  rendered_link_url: fillIn(link_url, values),
  rendered_image_url: fillIn(image_url, values),
});

export const badgeJson = (badge: BadgeRow, values: Placeholders) => ({
  name: badge.name,
  ...previewJson(badge, values),
  id: badge.id,
  kind: badge.project_id === null ? 'group' : 'project',
});
