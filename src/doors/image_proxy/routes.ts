/** Shows images of other sites that texts embed, so that browsers ask only this service for them. */
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { object, text } from '../../platform/http/schema.ts';
import { svgHeaders, svgType } from '../../platform/http/svg.ts';
import { userAgent } from './fetch_image.ts';
import { getImageKey } from './image_key.ts';
import { maxImageUrlLength, readImageUrl } from './image_links.ts';
import { loadImage } from './load_image.ts';

const headers = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'private, max-age=300',
};

const image = endpoint({
  method: 'GET',
  path: '/-/image/:signature/:url',
  summary: 'Image of another site that a text embeds',
  area: 'markdown',
  audience: 'anyone',
  params: object({
    signature: text({ maxLength: 100 }),
    url: text({ maxLength: 2 * maxImageUrlLength, description: 'address of the image, in base64url' }),
  }),
  reply: null,
  content: '*/*',
  handle: async (call, { signature, url: encoded }) => {
    const key = getImageKey(call.platform);
    const url = key === null ? null : readImageUrl(key, signature, encoded);
    // An image of this service under another name would load itself.
    if (url === null || call.userAgent === userAgent) throw notFound();
    const loaded = await loadImage(call, url);
    if (loaded === null) throw notFound();
    const { type, content } = loaded;
    const own = type === svgType ? svgHeaders : {};
    return new Answer(content, { headers: { ...headers, 'content-type': type, ...own } });
  },
});

export const imageRoutes = [image];
