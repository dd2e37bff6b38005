import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { escapeArtifactPath } from '../../ci/artifacts/archives/escape_path_slashes.ts';
import { rewriteBadgePath } from '../../ci/pipelines/badges/routes.ts';
import { openCall } from '../../core/access/open_call.ts';
import type { Platform } from '../../core/platform.ts';
import { gitPath } from '../../doors/git_http/routes.ts';
import { mountDocs } from '../../doors/web/docs/routes.ts';
import { failurePage } from '../../doors/web/request/failure_page.ts';
import { mountPages } from '../../doors/web/request/mount_pages.ts';
import { rewriteHomePath, rewritePagePath } from '../../doors/web/request/project_paths.ts';
import { mountOauth } from '../../identity/oauth/mount.ts';
import { monitoringGuard } from '../../platform/http/monitoring/access.ts';
import { mountHealth } from '../../platform/http/monitoring/health.ts';
import type { Metrics } from '../../platform/http/monitoring/metrics.ts';
import { apiPrefix, finalWords, mountEndpoints } from '../../platform/http/mount.ts';
import { makeRouteTable } from '../../platform/http/route_table.ts';
import { makeServer } from '../../platform/http/server.ts';
import { uploadPath } from '../../projects/uploads/web_path.ts';
import { doors, endpoints } from '../routes.ts';
import type { Watching } from '../service/watch/start_watching.ts';
import { storeFailure } from './store_failure.ts';

/** Maps the addresses of people and git clients to routes. */
const rewritePath = (path: string): string => {
  if (path.startsWith(`${apiPrefix}/`)) return escapeArtifactPath(path);
  const rewritten = gitPath(rewritePagePath(rewriteBadgePath(uploadPath(path))));
  return rewritten === path ? rewriteHomePath(path) : rewritten;
};

export type Watched = { metrics: Metrics; watching: Watching; isServing: () => boolean };

/** Makes the HTTP server with every endpoint, page and door, before it listens. */
export const makeApp = (platform: Platform, { metrics, watching, isServing }: Watched): FastifyInstance => {
  const { store, log, config } = platform;
  const routes = makeRouteTable();
  const app = makeServer({
    log,
    metrics,
    tracer: watching.tracer,
    routes,
    trustedProxies: config.trusted_proxies,
    finalWords: finalWords(endpoints),
    storeFailure: storeFailure(store),
    rewritePath,
    failurePage: failurePage(config.external_url?.startsWith('https:') === true),
  });
  // Clients that get a response while the service stops must reconnect elsewhere.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!isServing()) void reply.header('connection', 'close');
    done(null, payload);
  });
  const checkStore = async (): Promise<void> => void (await sql`select 1`.execute(store.db));
  const mayMonitor = monitoringGuard({
    allow: config.monitoring_allow,
    token: config.monitoring_token,
    trustedProxies: config.trusted_proxies,
  });
  const judgeParts = async () => await watching.judge(platform);
  mountHealth(routes, { metrics, checkStore, judgeParts, isServing, mayMonitor });
  const open = openCall(platform);
  mountEndpoints(routes, endpoints, open);
  mountEndpoints(routes, doors, open, '');
  mountOauth(routes, platform);
  mountDocs(routes, endpoints, config.external_url);
  mountPages(routes, platform);
  return app;
};
