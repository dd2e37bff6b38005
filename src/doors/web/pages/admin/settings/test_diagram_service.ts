/** Tests the diagram service with a tiny diagram. Browsers send the same request, but follow no outgoing rules. */
import { getOutgoingRules } from '../../../../../core/settings/setting_effects.ts';
import { sendRequest } from '../../../../../outgoing/sender/send.ts';
import { STATUS_CODES } from '../../../../../platform/http/node_http.ts';
import { toDiagramUrl } from '../../../../markdown/convert/fences.ts';
import type { Visit } from '../../../page.ts';
import { type Html, html } from '../../../parts/html.ts';

/** Tests the address in the form, saved or not. */
export const diagramTestButton = html`<button name="test" value="diagram">Test the diagram service</button>`;

const tinyDiagram = 'digraph { Gantry -> Diagram }';

export type DiagramAnswer = { isFine: boolean; text: string };

const refused = (text: string): DiagramAnswer => ({ isFine: false, text });

/** Asks the service at `server` for a diagram, under the rules of outgoing requests. Never throws. */
export const testDiagramServer = async ({ call }: Visit, server: string | null): Promise<DiagramAnswer> => {
  if (server === null || server === '') return refused('Enter the address of the diagram service first.');
  const url = toDiagramUrl(server, 'graphviz', tinyDiagram);
  if (url === null) return refused('The address of the diagram service is too long.');
  const request = { url, headers: {}, body: '', method: 'GET', verifiesCertificate: true } as const;
  const outcome = await sendRequest(request, getOutgoingRules(call.settings));
  const { status, headers, error } = outcome;
  if (outcome.isRefused === true)
    return refused(`Gantry may not send requests to this address itself; browsers may reach it (${error}).`);
  if (status === null) return refused(`The diagram service did not answer: ${error ?? 'no response'}.`);
  const type = headers['content-type'] ?? 'no content type';
  const answer = `${status} ${STATUS_CODES[status] ?? ''}, ${type.slice(0, 100)}`;
  if (error !== null)
    return refused(`The diagram service did not complete its answer (${answer}): ${error}.`);
  return status === 200 && type.startsWith('image/svg+xml')
    ? { isFine: true, text: `The diagram service works: it answered ${answer}.` }
    : refused(`The diagram service answered ${answer}, instead of 200 with an SVG image.`);
};

export const diagramAnswerPart = ({ isFine, text }: DiagramAnswer): Html =>
  isFine
    ? html`<p class="flash" role="status">${text}</p>`
    : html`<p class="flash alert" role="alert">${text}</p>`;
