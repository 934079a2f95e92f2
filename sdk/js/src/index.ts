/**
 * Offer the functions of a running application to AI agents as MCP tools.
 *
 * An application connects out to a bridge on the same machine and declares its tools. Agents call them through the
 * bridge over standard MCP; the handlers run here, on the application's own state. It opens no port.
 *
 * @module clientmcp
 */

export { Application, type ConnectOptions, connect, DEFAULT_URL } from "./application.js";
export { EndedError, ToolError } from "./error.js";
export type { FromSchema, JsonSchema, ObjectSchema } from "./schema.js";
export type { Socket, SocketConstructor } from "./socket.js";
export type { Refusal, State } from "./state.js";
export { storedToken, type StoredTokenOptions, type Token, type TokenRequest, type TokenSource } from "./token.js";
export {
    type Annotations,
    type Answer,
    type Call,
    type CallToolResult,
    type Content,
    type Definition,
    type Handler,
    type Tool,
    tool,
    type TypedTool,
} from "./tool.js";
