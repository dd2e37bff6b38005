/**
 * Mounts a route for each page. The code of pages is loaded with the first request for one, so a service that only
 * answers the API does without.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Platform } from '../../../core/platform.ts';
import { Failure } from '../../../platform/errors.ts';
import { discardingRest } from '../../../platform/http/mount.ts';
import type { RouteTable } from '../../../platform/http/route_table.ts';
import type { AnyPage } from '../page.ts';
import { type PagePath, largeForms, pagePaths } from '../routes.ts';

const findPage = async ({ load }: PagePath, method: string, path: string): Promise<AnyPage> => {
  const page = (await load()).find((one) => one.method === method && one.path === path);
  if (page === undefined) throw new Error(`${method} ${path} is listed in doors/web/routes.ts, and no page`);
  return page;
};

const mountPage = (routes: RouteTable, platform: Platform, entry: PagePath, line: string): void => {
  const [method = '', path = ''] = line.split(' ');
  // Failures of these go to programs as JSON: any path of two words could be meant for the API.
  const isPage = entry.isOfPlace !== true;
  type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  // Kept, because `import` looks for the module again with each call.
  let serving: Handler | null = null;
  const load = async (): Promise<Handler> => {
    const [{ serve }, page] = await Promise.all([import('./serve_page.ts'), findPage(entry, method, path)]);
    return async (request, reply) => await serve(platform, page, request, reply);
  };
  const handler: Handler = async (request, reply) => {
    serving ??= await load();
    return await serving(request, reply);
  };
  // The page reads the body itself, once the visitor is known.
  const streams = largeForms.has(line);
  routes.add({ method, url: path, isPage, streams, handler: streams ? discardingRest(handler) : handler });
};

const mountAssets = (routes: RouteTable): void => {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { findAsset } = await import('../assets.ts');
    const asset = findAsset(request.url.split('?')[0] ?? '', request.headers['accept-encoding']);
    if (asset === null) throw new Failure('not_found', { message: '404 Not Found' });
    return await reply
      .headers({
        'content-type': asset.type,
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
        vary: 'accept-encoding',
        ...(asset.encoding !== null && { 'content-encoding': asset.encoding }),
      })
      .send(asset.content);
  };
  routes.add({ method: 'GET', url: '/-/assets/:file', handler });
};

export const mountPages = (routes: RouteTable, platform: Platform): void => {
  mountAssets(routes);
  for (const entry of pagePaths) {
    for (const line of entry.lines) mountPage(routes, platform, entry, line);
  }
};
