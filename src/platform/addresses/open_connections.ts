/** Keeps connections to receivers open for later requests to the same checked addresses. */
import { Agent, type AgentOptions } from 'node:http';
import { Agent as SecureAgent } from 'node:https';

/** Which addresses of the host were checked; part of the name under which an open connection is found again. */
export type Pinned = { checkedAddresses?: string };

/** Milliseconds after which an idle connection is closed, and how many are kept for one receiver. */
const settings: AgentOptions = { keepAlive: true, timeout: 15_000, maxFreeSockets: 8 };

class PinnedAgent extends Agent {
  override getName(options: Parameters<Agent['getName']>[0] & Pinned = {}): string {
    return `${super.getName(options)}:${options.checkedAddresses}`;
  }
}

class SecurePinnedAgent extends SecureAgent {
  override getName(options: Parameters<SecureAgent['getName']>[0] & Pinned = {}): string {
    return `${super.getName(options)}:${options.checkedAddresses}`;
  }
}

export const agent = new PinnedAgent(settings);
export const secureAgent = new SecurePinnedAgent(settings);
