/** A badge of a project or group: an image with a link. */
import type { previewJson } from '../../../../projects/badges/json.ts';
import type { Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';
import { imageSource } from './image_source.ts';

type ShownBadge = Pick<ReturnType<typeof previewJson>, 'rendered_link_url' | 'rendered_image_url'> & {
  name: string | null;
};

/** Renders the badge; with its name, or the address of its image, where the image cannot be shown. */
export const badgeLink = (visit: Visit, badge: ShownBadge): Html => {
  const { name, rendered_link_url: href, rendered_image_url: image } = badge;
  const text = name === null || name === '' ? image : name;
  const source = imageSource(visit, image);
  const content =
    source === null ? html`<span class="badge">${text}</span>` : html`<img src="${source}" alt="${text}">`;
  return html`<a href="${href}" rel="nofollow noopener noreferrer">${content}</a>`;
};
