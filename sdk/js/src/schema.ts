/**
 * The type of what a JSON Schema describes, as far as TypeScript can tell. It is a type and nothing else: nothing is
 * checked when the program runs.
 */

/** A JSON Schema. */
export interface JsonSchema {
    readonly type?: string | readonly string[];
    readonly properties?: { readonly [name: string]: JsonSchema };
    readonly required?: readonly string[];
    readonly items?: unknown;
    readonly enum?: readonly unknown[];
    readonly const?: unknown;
    readonly [keyword: string]: unknown;
}

/** The JSON Schema of a tool's arguments: an object. */
export interface ObjectSchema extends JsonSchema {
    readonly type: "object";
}

/**
 * The type that a schema describes: `object` with `properties` and `required`, `array` with `items`, `string`,
 * `number`, `integer`, `boolean`, `null`, lists of these, `enum` and `const`. Everything else is `unknown`.
 */
export type FromSchema<S> = S extends { readonly const: infer C }
    ? C
    : S extends { readonly enum: readonly (infer E)[] }
      ? E
      : S extends { readonly type: readonly (infer T)[] }
        ? T extends string
            ? FromType<T, S>
            : unknown
        : S extends { readonly type: infer T extends string }
          ? FromType<T, S>
          : unknown;

type FromType<T extends string, S> = string extends T
    ? unknown
    : T extends "object"
      ? FromObject<S>
      : T extends "array"
        ? S extends { readonly items: infer I }
            ? FromSchema<I>[]
            : unknown[]
        : T extends keyof Simple
          ? Simple[T]
          : unknown;

interface Simple {
    string: string;
    number: number;
    integer: number;
    boolean: boolean;
    null: null;
}

type FromObject<S> = S extends { readonly properties: infer P }
    ? Flat<
          { -readonly [K in keyof P as K extends Required<S> ? K : never]: FromSchema<P[K]> } & {
              -readonly [K in keyof P as K extends Required<S> ? never : K]?: FromSchema<P[K]>;
          }
      >
    : Record<string, unknown>;

type Required<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

type Flat<T> = { [K in keyof T]: T[K] };
