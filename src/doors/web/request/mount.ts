/**
 * Mounts a route for each page. The code of pages is loaded with the first request for one, so a service that only
 * answers the API does without.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Platform } from '../../../core/platform.ts';
import { Failure } from '../../../platform/errors.ts';
import type { AnyPage } from '../page.ts';
import { type PagePath, pagePaths } from '../routes.ts';

const found = async ({ load }: PagePath, method: string, path: string): Promise<AnyPage> => {
  const page = (await load()).find((one) => one.method === method && one.path === path);
  if (page === undefined) throw new Error(`${method} ${path} is listed in doors/web/routes.ts, and no page`);
  return page;
};

const mountPage = (app: FastifyInstance, platform: Platform, entry: PagePath, line: string): void => {
  const [method = '', path = ''] = line.split(' ');
  app.route({
    method,
    url: path,
    config: { isPage: true },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const [{ serve }, page] = await Promise.all([import('./serve.ts'), found(entry, method, path)]);
      return await serve(platform, page, request, reply);
    },
  });
};

const mountAssets = (app: FastifyInstance): void => {
  app.get('/-/assets/:file', async (request, reply) => {
    const [{ icon, iconPath, style, stylePath }, { liveScript, liveScriptPath }] = await Promise.all([
      import('../parts/style.ts'),
      import('../live_script.ts'),
    ]);
    const assets: Record<string, readonly [type: string, text: string] | undefined> = {
      [stylePath]: ['text/css; charset=utf-8', style],
      [iconPath]: ['image/svg+xml', icon],
      [liveScriptPath]: ['text/javascript; charset=utf-8', liveScript],
    };
    const asset = assets[request.url.split('?')[0] ?? ''];
    if (asset === undefined) throw new Failure('not_found', { message: '404 Not Found' });
    return await reply
      .headers({
        'content-type': asset[0],
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
      })
      .send(asset[1]);
  });
};

export const mountPages = (app: FastifyInstance, platform: Platform): void => {
  mountAssets(app);
  for (const entry of pagePaths) {
    for (const line of entry.lines) mountPage(app, platform, entry, line);
  }
};
