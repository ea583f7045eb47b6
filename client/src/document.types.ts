export interface paths {
    "/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What an app must know before sign-in
         * @description Where covers are, and which ways to sign up and in the operator offers. A change shows within a minute.
         */
        get: operations["getConfig"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create account
         * @description Where e-mail addresses must be confirmed, the response has `needs_email_confirmation: true` instead of tokens: send the mailed code to `/auth/verify`. That response is the same for an address that has an account, and its `user.id` is a placeholder: the id of the account comes with its session. Limited to five mails an hour for one address, including those of `/auth/recover` and `/auth/resend`. Do not retry a 500 blindly: the account may exist. Sign in instead.
         */
        post: operations["signUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/signin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in
         * @description An unknown e-mail address, a wrong password and a deactivated account get the same 401. After ten failures a minute from one client for one account, or two hundred an hour in total, the response is 429.
         */
        post: operations["signIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh tokens
         * @description Returns a new access token and a new refresh token; the old refresh token is rotated out. Store the new one before using the new access token, and run one refresh at a time on a device. Repeating a refresh whose response was lost is safe as long as the new tokens have not been used. 401 means that the session is over: sign in again. Any other error says nothing about the session: keep the tokens and try again.
         */
        post: operations["refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/signout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke refresh token
         * @description Ends the session of this access token: its refresh token is revoked. Other devices stay signed in. The access token itself stays valid until it expires: discard it. API keys get 401 here.
         */
        post: operations["signOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oauth/idp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange identity-provider ID token
         * @description Signs in with the ID token that the app got from the native sign-in SDK of the identity provider; there is no web redirect. The first sign-in creates the account. Send a nonce if, and only if, the ID token has one: give the SDK the SHA-256 of the nonce in lower-case hex, and this endpoint the nonce itself.
         */
        post: operations["exchangeIdToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oauth/google": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange Google ID token
         * @description Signs in with the ID token that the app got from the native sign-in SDK of Google; there is no web redirect. The first sign-in creates the account. Send a nonce if, and only if, the ID token has one: give the SDK the SHA-256 of the nonce in lower-case hex, and this endpoint the nonce itself.
         */
        post: operations["exchangeGoogleIdToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oauth/apple": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange Apple ID token
         * @description Signs in with the ID token that the app got from the native sign-in SDK of Apple; there is no web redirect. The first sign-in creates the account. Send a nonce if, and only if, the ID token has one: give the SDK the SHA-256 of the nonce in lower-case hex, and this endpoint the nonce itself.
         */
        post: operations["exchangeAppleIdToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail a code for a forgotten password
         * @description Mails a code for `/auth/verify` with the type `recovery`. The response is the same whether or not the address has an account. Limited to five mails an hour for one address.
         */
        post: operations["recover"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail the confirmation code again
         * @description Mails a new code if the account still has to be confirmed. The response is the same in any case. Limited to five mails an hour for one address, including those of `/auth/recover`.
         */
        post: operations["resend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a mailed code for a session
         * @description Takes the code that was mailed after sign-up, which confirms the address, or for a forgotten password: set a new one with `/auth/password` next. With `signup`, the password and name that are sent here are those of the account from then on, whatever was sent when signing up: the address belongs to whoever reads its mail. A wrong, used or expired code and a deactivated account get the same 401. After ten failures an hour from one client for one address, or a hundred in total, the response is 429.
         */
        post: operations["verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password
         * @description Sets the password of the caller and ends all other sessions. Some projects require the current password, except in a session that was opened with a mailed code. After ten rejected attempts an hour the response is 429.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sounds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sounds
         * @description Active sounds by sort order, then most recent first. Page through them with `next_cursor`: every sound appears exactly once, even if others are added or removed in between. Only one that is moved in the order meanwhile may appear again, or be missed. Unknown parameters are ignored; a repeated parameter or an invalid value gets 400. `data` is empty if nothing matches.
         */
        get: operations["listSounds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sounds/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sound with signed audio URL
         * @description The signed URLs are valid for 5 minutes. Request them right before playback; do not cache them. An unknown id and that of an inactive sound get the same 404.
         */
        get: operations["getSound"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sounds/{id}/play": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Count a play
         * @description Adds one to the global play counter of the sound, atomically, returns the new count, and enters the play in the caller's history. With an `Idempotency-Key` the request may be repeated; without one, a repeated request counts twice. A key that was used for another sound gets 400; a 404 uses up no key.
         */
        post: operations["countPlay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/plays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Count plays that were made without a network
         * @description Counts up to 100 plays in one request, which may be repeated: each `id`, a UUID that the app made, counts once for the caller, as an `Idempotency-Key` does, and the two are one: a play that was sent with a key may be sent again here under that key as its id. Each play counts for the day on which it was made (UTC). Statuses come in the order sent. One invalid play is 400, and nothing is counted.
         */
        post: operations["countPlays"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the caller listened to
         * @description One entry for each sound that the caller played, the last played first. Page through them with `next_cursor`. A sound that is played meanwhile moves to the front. A deleted sound leaves the history.
         */
        get: operations["listHistory"];
        put?: never;
        post?: never;
        /**
         * Clear the history
         * @description Removes all entries. Play counts of sounds stay as they are.
         */
        delete: operations["clearHistory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/history/{soundId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a sound from the history
         * @description Idempotent: removing a sound that is not there returns the same. The play count of the sound stays.
         */
        delete: operations["removeFromHistory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/favorites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List favorites
         * @description The caller's favorites, newest first.
         */
        get: operations["listFavorites"];
        put?: never;
        /**
         * Add favorite
         * @description Idempotent: adding a sound that is already a favorite changes nothing and returns the same. A sound that does not exist or is not active gets 404. A user has at most 5,000 favorites: one more gets 400.
         */
        post: operations["addFavorite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/favorites/{soundId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove favorite
         * @description Idempotent: removing a sound that is not a favorite returns the same.
         */
        delete: operations["removeFavorite"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Caller profile
         * @description Useful to check a token after signing in.
         */
        get: operations["getProfile"];
        put?: never;
        post?: never;
        /**
         * Delete the account
         * @description Permanently deletes the account of the caller, with its customer record, favorites, history and API keys. This needs a sign-in within the last 15 minutes (a refresh does not count), or the response is 401: sign in again. API keys get 401 here.
         */
        delete: operations["deleteAccount"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Everything that is kept of the caller
         * @description One JSON file with all that this service keeps of the caller (GDPR, articles 15 and 20). API keys get 401 here.
         */
        get: operations["exportAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/customer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Caller customer record
         * @description `email` and `provider` are managed by authentication.
         */
        get: operations["getCustomer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update customer record
         * @description Changes the fields that are sent and keeps the others; null clears a text. A request with any other field gets 400, and changes nothing.
         */
        patch: operations["updateCustomer"];
        trace?: never;
    };
    "/home": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Homepage sections
         * @description Active sections in display order, each with its sounds. A section without visible sounds has an empty list.
         */
        get: operations["getHome"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Category tree
         * @description Active categories in display order, each with its children. No token is needed, but one that is sent must be valid.
         */
        get: operations["listCategories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @enum {string} */
        InvalidRequestReason: "validation" | "weak_password" | "same_password" | "current_password_required" | "wrong_current_password" | "address_taken" | "address_confirmed" | "too_many_favorites" | "key_reused" | "sign_up_disabled";
        /** @enum {string} */
        UnauthorizedReason: "token_invalid" | "invalid_credentials" | "email_not_confirmed" | "sign_in_disabled" | "code_invalid" | "id_token_refused" | "session_ended" | "recent_sign_in_required";
        /** @enum {string} */
        RateLimitedReason: "limit_requests" | "limit_attempts" | "limit_mails";
        /** @enum {string} */
        ErrorField: "Idempotency-Key" | "avatar_url" | "category" | "code" | "country" | "current_password" | "cursor" | "email" | "featured" | "full_name" | "id_token" | "include_children" | "limit" | "locale" | "marketing_opt_in" | "nonce" | "password" | "phone" | "plays" | "refresh_token" | "search" | "sound_id" | "type";
        SignUpRequest: {
            /**
             * Format: email
             * @example ada@example.com
             */
            email: string;
            /**
             * @description At most 72 bytes in UTF-8.
             * @example correct horse battery
             */
            password: string;
            /** @example Ada Lovelace */
            full_name?: string | null;
        };
        SignInRequest: {
            /**
             * Format: email
             * @example ada@example.com
             */
            email: string;
            /** @example correct horse battery */
            password: string;
        };
        RefreshRequest: {
            /** @example v1sQ0o3kPq7m */
            refresh_token: string;
        };
        ExchangeIdTokenRequest: {
            /** @example eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9... */
            id_token: string;
            /** @example n-0S6_WzA2Mj */
            nonce?: string | null;
        };
        RecoverRequest: {
            /**
             * Format: email
             * @example ada@example.com
             */
            email: string;
        };
        ResendRequest: {
            /**
             * Format: email
             * @example ada@example.com
             */
            email: string;
        };
        VerifyRequest: {
            /**
             * @description Why the code was mailed.
             * @example recovery
             */
            type: components["schemas"]["CodeType"];
            /**
             * Format: email
             * @example ada@example.com
             */
            email: string;
            /** @example 12345678 */
            code: string;
            /**
             * @description Required with `signup`; otherwise ignored.
             * @example correct horse battery
             */
            password?: string | null;
            /**
             * @description Only with `signup`.
             * @example Ada Lovelace
             */
            full_name?: string | null;
        };
        /** @enum {string} */
        CodeType: "signup" | "recovery";
        ChangePasswordRequest: {
            /**
             * @description At most 72 bytes in UTF-8.
             * @example correct horse battery
             */
            password: string;
            /** @example correct horse battery */
            current_password?: string | null;
        };
        PlaysRequest: {
            /**
             * @example [
             *       {
             *         "id": "8f14e45f-ceea-4e7a-9c3b-2d1f0a6b5c4d",
             *         "sound_id": "2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42",
             *         "played_at": "2026-06-23T09:30:00.000Z"
             *       }
             *     ]
             */
            plays: components["schemas"]["OfflinePlay"][];
        };
        OfflinePlay: {
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            id: string;
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            sound_id: string;
            /**
             * Format: date-time
             * @description When it was played. Up to five minutes ahead counts as now.
             * @example 2026-06-23T09:30:00.000Z
             */
            played_at: string;
        };
        AddFavoriteRequest: {
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            sound_id: string;
        };
        UpdateCustomerRequest: {
            /** @example Ada Lovelace */
            full_name?: string | null;
            /**
             * Format: uri
             * @description An https address; it is stored, never fetched.
             * @example https://example.com/ada.jpg
             */
            avatar_url?: string | null;
            /**
             * @description An international number; spaces, hyphens, brackets and dots are removed.
             * @example +49 170 1234567
             */
            phone?: string | null;
            /**
             * @description BCP 47 locale, stored in canonical form.
             * @example de-AT
             */
            locale?: string | null;
            /**
             * @description ISO 3166-1 alpha-2 code, stored in upper case.
             * @example AT
             */
            country?: string | null;
            /** @example true */
            marketing_opt_in?: boolean;
        };
        ErrorResponse: {
            error: components["schemas"]["ErrorBody"];
        };
        ErrorBody: {
            code: components["schemas"]["ErrorCode"];
            /** @description For developers; do not show it to users, nor compare it: see `X-Error-Reason`. */
            message: string;
        };
        /** @enum {string} */
        ErrorCode: "invalid_request" | "unauthorized" | "not_found" | "rate_limited" | "server_error";
        ConfigResponse: {
            data: components["schemas"]["AppConfig"];
        };
        AppConfig: {
            /**
             * @description What the path of a cover is appended to.
             * @example https://example.supabase.co/storage/v1/object/public/
             */
            storage_url: string;
            /**
             * @description Whose ID tokens are accepted.
             * @example [
             *       "google",
             *       "apple"
             *     ]
             */
            id_token_providers: components["schemas"]["IdTokenProvider"][];
            /**
             * @description Whether an account can be created with an e-mail address and a password.
             * @example true
             */
            sign_up: boolean;
            /**
             * @description Whether the e-mail address of a new account must be confirmed with a mailed code.
             * @example true
             */
            email_confirmation: boolean;
        };
        /** @enum {string} */
        IdTokenProvider: "google" | "apple";
        SignUpResponse: {
            data: components["schemas"]["SignedUp"];
        };
        /**
         * @description A session; or, when `needs_email_confirmation` is true, an account whose token fields are absent, and whose id is a placeholder.
         * @example {
         *       "access_token": "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9...",
         *       "refresh_token": "v1sQ0o3kPq7m",
         *       "token_type": "bearer",
         *       "expires_at": 1782210600,
         *       "expires_in": 3600,
         *       "user": {
         *         "id": "7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10",
         *         "email": "ada@example.com"
         *       }
         *     }
         * @example {
         *       "needs_email_confirmation": true,
         *       "user": {
         *         "id": "7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10",
         *         "email": "ada@example.com"
         *       }
         *     }
         */
        SignedUp: {
            /**
             * @description Bearer token.
             * @example eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9...
             */
            access_token?: string;
            /**
             * @description Valid for one refresh, which returns the next one.
             * @example v1sQ0o3kPq7m
             */
            refresh_token?: string;
            /** @constant */
            token_type?: "bearer";
            /**
             * Format: int64
             * @description Unix time at which the access token expires.
             * @example 1782210600
             */
            expires_at?: number;
            /**
             * Format: int64
             * @description Seconds until the access token expires.
             * @example 3600
             */
            expires_in?: number;
            /** @description Present, and true, only when the e-mail address must be confirmed first. */
            needs_email_confirmation?: boolean;
            user: components["schemas"]["User"];
        };
        User: {
            /**
             * Format: uuid
             * @example 7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10
             */
            id: string;
            /** @example ada@example.com */
            email: string | null;
        };
        SessionResponse: {
            data: components["schemas"]["Session"];
        };
        Session: {
            /**
             * @description Bearer token.
             * @example eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9...
             */
            access_token: string;
            /**
             * @description Valid for one refresh, which returns the next one.
             * @example v1sQ0o3kPq7m
             */
            refresh_token: string;
            /** @constant */
            token_type: "bearer";
            /**
             * Format: int64
             * @description Unix time at which the access token expires.
             * @example 1782210600
             */
            expires_at: number;
            /**
             * Format: int64
             * @description Seconds until the access token expires.
             * @example 3600
             */
            expires_in: number;
            user: components["schemas"]["User"];
        };
        RefreshResponse: {
            data: components["schemas"]["RefreshedSession"];
        };
        RefreshedSession: {
            /**
             * @description Bearer token.
             * @example eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9...
             */
            access_token: string;
            /**
             * @description Valid for one refresh, which returns the next one.
             * @example v1sQ0o3kPq7m
             */
            refresh_token: string;
            /** @constant */
            token_type: "bearer";
            /**
             * Format: int64
             * @description Unix time at which the access token expires.
             * @example 1782210600
             */
            expires_at: number;
            /**
             * Format: int64
             * @description Seconds until the access token expires.
             * @example 3600
             */
            expires_in: number;
        };
        OkResponse: {
            data: components["schemas"]["Ok"];
        };
        Ok: {
            /** @example true */
            ok: boolean;
        };
        SoundListResponse: {
            data: components["schemas"]["Sound"][];
            /**
             * @description Send it as `cursor` to get the next page; null on the last one. An ISO 8601 date-time: keep it as text, it is a position and not a time to calculate with.
             * @example 2026-06-23T09:30:00.000Z
             */
            next_cursor: string | null;
        };
        Sound: {
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            id: string;
            /** @example Himalayan bowl in C */
            title: string;
            /** @example A hand-hammered bowl, struck once and left to ring. */
            description: string | null;
            /**
             * @description The note that a bowl is tuned to.
             * @example C4
             */
            bowl_note: string | null;
            /**
             * Format: double
             * @description In hertz.
             * @example 261.63
             */
            frequency_hz: number | null;
            /**
             * Format: double
             * @description In seconds.
             * @example 48
             */
            duration_sec: number | null;
            /**
             * @description Slug of a category.
             * @example singing-bowls
             */
            category: string | null;
            /**
             * @example [
             *       "calm",
             *       "meditation"
             *     ]
             */
            tags: string[] | null;
            /**
             * @description Path in the public storage: append it to `storage_url` of `/config`.
             * @example covers/bowls/c4-singing-bowl.jpg
             */
            cover_image_url: string | null;
            /** @example true */
            is_featured: boolean;
            /**
             * Format: int64
             * @description All plays, by all users.
             * @example 1289
             */
            play_count: number;
            /**
             * Format: date-time
             * @example 2026-06-23T09:30:00.000Z
             */
            created_at: string;
        };
        SoundResponse: {
            data: components["schemas"]["SoundDetail"];
        };
        SoundDetail: {
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            id: string;
            /** @example Himalayan bowl in C */
            title: string;
            /** @example A hand-hammered bowl, struck once and left to ring. */
            description: string | null;
            /**
             * @description The note that a bowl is tuned to.
             * @example C4
             */
            bowl_note: string | null;
            /**
             * Format: double
             * @description In hertz.
             * @example 261.63
             */
            frequency_hz: number | null;
            /**
             * Format: double
             * @description In seconds.
             * @example 48
             */
            duration_sec: number | null;
            /**
             * @description Slug of a category.
             * @example singing-bowls
             */
            category: string | null;
            /**
             * @example [
             *       "calm",
             *       "meditation"
             *     ]
             */
            tags: string[] | null;
            /**
             * @description Signed URL of the cover, valid as long as `audio_url`.
             * @example https://example.supabase.co/storage/v1/object/sign/covers/bowls/c4-singing-bowl.jpg?token=eyJhbGciOi...
             */
            cover_image_url: string | null;
            /** @example true */
            is_featured: boolean;
            /**
             * Format: int64
             * @description All plays, by all users.
             * @example 1289
             */
            play_count: number;
            /**
             * Format: date-time
             * @example 2026-06-23T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description Signed URL of the audio, valid for 5 minutes; range requests work. Request it right before playback and do not store it. On any 4xx from it, get this sound again and use the new URL. Null when there is no file.
             * @example https://example.supabase.co/storage/v1/object/sign/audio/bowls/c4.m4a?token=eyJhbGciOi...
             */
            audio_url: string | null;
            /**
             * Format: int64
             * @description Seconds for which the signed URLs are valid.
             * @example 300
             */
            audio_url_expires_in: number;
        };
        PlayCountResponse: {
            data: components["schemas"]["PlayCount"];
        };
        PlayCount: {
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            id: string;
            /**
             * Format: int64
             * @example 1290
             */
            play_count: number;
        };
        PlayResultListResponse: {
            data: components["schemas"]["PlayResult"][];
        };
        PlayResult: {
            /** Format: uuid */
            id: string;
            status: components["schemas"]["PlayStatus"];
        };
        /**
         * @description counted; duplicate: a play of this id was counted before; not_found: there is no such active sound; too_old: played more than 30 days ago. All four are final.
         * @enum {string}
         */
        PlayStatus: "counted" | "duplicate" | "not_found" | "too_old";
        HistoryListResponse: {
            data: components["schemas"]["HistoryEntry"][];
            /**
             * @description Send it as `cursor` to get the next page; null on the last one. It is opaque.
             * @example MjAyNi0wNi0yM1QwOTozMDowMC4wMDBaIDJmNmMxZjBlLThhNTEtNGEwZS05YjVlLTZmMWQxYzBiN2E0Mg
             */
            next_cursor: string | null;
        };
        HistoryEntry: {
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            sound_id: string;
            /**
             * Format: date-time
             * @example 2026-06-23T09:30:00.000Z
             */
            last_played_at: string;
            /**
             * Format: int64
             * @description By the caller, since the history was last cleared.
             * @example 7
             */
            plays: number;
            /** @description Null while the sound is inactive. */
            sounds: components["schemas"]["SoundPreview"] | null;
        };
        SoundPreview: {
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            id: string;
            /** @example Himalayan bowl in C */
            title: string;
            /**
             * @description Slug of a category.
             * @example singing-bowls
             */
            category: string | null;
            /**
             * @description Path in the public storage: append it to `storage_url` of `/config`.
             * @example covers/bowls/c4-singing-bowl.jpg
             */
            cover_image_url: string | null;
            /**
             * Format: double
             * @description In seconds.
             * @example 48
             */
            duration_sec: number | null;
        };
        FavoriteListResponse: {
            data: components["schemas"]["Favorite"][];
        };
        Favorite: {
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            sound_id: string;
            /**
             * Format: date-time
             * @example 2026-06-23T09:30:00.000Z
             */
            created_at: string;
            /** @description Null while the sound is inactive; the favorite itself is kept. */
            sounds: components["schemas"]["SoundPreview"] | null;
        };
        ProfileResponse: {
            data: components["schemas"]["Profile"];
            auth_via: components["schemas"]["AuthVia"];
        };
        Profile: {
            /**
             * Format: uuid
             * @example 7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10
             */
            id: string;
            /** @example ada@example.com */
            email: string | null;
            /** @example Ada Lovelace */
            full_name: string | null;
            /** @example https://example.com/ada.jpg */
            avatar_url: string | null;
        };
        /**
         * @description The kind of credential in the request.
         * @enum {string}
         */
        AuthVia: "jwt" | "api_key";
        ExportResponse: {
            data: components["schemas"]["Export"];
        };
        Export: {
            profile: components["schemas"]["Profile"];
            customer: components["schemas"]["Customer"] | null;
            favorites: components["schemas"]["Favorite"][];
            history: components["schemas"]["HistoryEntry"][];
            api_keys: components["schemas"]["ApiKeyName"][];
            /** @description Plays that were sent under a key of their own, kept for 31 days. */
            play_receipts: components["schemas"]["PlayReceipt"][];
            /**
             * @description Days of the last 31 on which something was played (UTC).
             * @example [
             *       "2026-06-23"
             *     ]
             */
            listening_days: string[];
        };
        Customer: {
            /**
             * Format: uuid
             * @example 7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10
             */
            id: string;
            /** @example ada@example.com */
            email: string | null;
            /** @example Ada Lovelace */
            full_name: string | null;
            /** @example https://example.com/ada.jpg */
            avatar_url: string | null;
            /** @example +491701234567 */
            phone: string | null;
            /** @example email */
            provider: string | null;
            source: components["schemas"]["CustomerSource"] | null;
            /**
             * @description BCP 47 locale.
             * @example de-AT
             */
            locale: string | null;
            /**
             * @description ISO 3166-1 alpha-2 code.
             * @example AT
             */
            country: string | null;
            /** @example false */
            marketing_opt_in: boolean;
            /** @example true */
            is_active: boolean;
            /**
             * Format: date-time
             * @example 2026-06-23T09:30:00.000Z
             */
            last_seen_at: string | null;
            /**
             * Format: date-time
             * @example 2026-06-23T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-06-23T09:30:00.000Z
             */
            updated_at: string;
        };
        /**
         * @description How the account was made.
         * @enum {string}
         */
        CustomerSource: "email" | "google" | "apple";
        ApiKeyName: {
            /** @example Partner */
            name: string;
            /** @example sk_live_4mZq0X1b */
            key_prefix: string;
        };
        PlayReceipt: {
            /** @example 8f14e45f-ceea-4e7a-9c3b-2d1f0a6b5c4d */
            key: string;
            /**
             * Format: uuid
             * @example 2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42
             */
            sound_id: string;
            /**
             * Format: date-time
             * @example 2026-06-23T09:30:00.000Z
             */
            received_at: string;
        };
        CustomerResponse: {
            data: components["schemas"]["Customer"];
            auth_via: components["schemas"]["AuthVia"];
        };
        UpdateCustomerResponse: {
            data: components["schemas"]["Customer"];
        };
        HomeResponse: {
            sections: components["schemas"]["HomeSection"][];
        };
        HomeSection: {
            /**
             * Format: uuid
             * @example 9d2f6c1e-5b0a-4f0f-8b7e-3d1c2b4a5f60
             */
            id: string;
            /** @example new-this-week */
            slug: string;
            /** @example New this week */
            title: string;
            mode: components["schemas"]["HomeSectionMode"];
            rule_type: components["schemas"]["HomeRuleType"] | null;
            /**
             * @description Slug of the category of a `category` rule.
             * @example singing-bowls
             */
            rule_value: string | null;
            /**
             * @description Whether a `category` rule also covers sub-intentions.
             * @example false
             */
            rule_include_children: boolean;
            sounds: components["schemas"]["SoundPreview"][];
        };
        /**
         * @description Whether sounds were picked by hand or by rule.
         * @enum {string}
         */
        HomeSectionMode: "manual" | "rule";
        /** @enum {string} */
        HomeRuleType: "category" | "featured" | "newest";
        CategoryListResponse: {
            data: components["schemas"]["Category"][];
        };
        /** @description An intention with its sub-intentions, all in display order. */
        Category: {
            /** @example b1c7a1f4-2f0a-4c55-8a0e-0f8f6f3f5d11 */
            id: string;
            /** @example Singing bowls */
            name: string;
            /** @example singing-bowls */
            slug: string;
            /** @example Bowls of metal and crystal. */
            description: string | null;
            /**
             * Format: int64
             * @example 10
             */
            sort_order: number;
            children: components["schemas"]["SubCategory"][];
        };
        /** @description A sub-intention. */
        SubCategory: {
            /** @example b1c7a1f4-2f0a-4c55-8a0e-0f8f6f3f5d11 */
            id: string;
            /** @example Singing bowls */
            name: string;
            /** @example singing-bowls */
            slug: string;
            /** @example Bowls of metal and crystal. */
            description: string | null;
            /**
             * Format: int64
             * @example 10
             */
            sort_order: number;
        };
    };
    responses: {
        /** @description Body or query parameters failed validation. The message names the first wrong field and its rule. */
        invalid_request: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-Error-Field": components["headers"]["X-Error-Field"];
                /**
                 * @description The reason, in a word for programs.
                 *     - `validation`: The request is not as documented. `X-Error-Field` names the field, where the fault lies in one.
                 *     - `weak_password`: The password is too easy to guess.
                 *     - `same_password`: The new password is the current one.
                 *     - `current_password_required`: The password can only be changed along with `current_password`.
                 *     - `wrong_current_password`: `current_password` is not the password of the account.
                 *     - `address_taken`: The address cannot be used to sign up.
                 *     - `address_confirmed`: The address is confirmed, and the code used up, but the password was not accepted: set one with a code of `/auth/recover`.
                 *     - `too_many_favorites`: The user has 5,000 favorites, which is the most.
                 *     - `key_reused`: The `Idempotency-Key` was used for another sound.
                 *     - `sign_up_disabled`: The operator has switched off sign-up.
                 */
                "X-Error-Reason": components["schemas"]["InvalidRequestReason"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "invalid_request",
                 *         "message": "limit: must be a whole number from 1 to 100."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description Missing, invalid or expired token; failed credentials, refresh token or external sign-in. */
        unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                /**
                 * @description The reason, in a word for programs.
                 *     - `token_invalid`: The access token or API key is missing, invalid, expired or revoked: refresh.
                 *     - `invalid_credentials`: The e-mail address or the password is wrong, or the account is deactivated.
                 *     - `email_not_confirmed`: The e-mail address must be confirmed first.
                 *     - `sign_in_disabled`: The operator has switched off signing in with an e-mail address.
                 *     - `code_invalid`: The mailed code is wrong, used or expired.
                 *     - `id_token_refused`: The ID token, its nonce or its issuer is not accepted.
                 *     - `session_ended`: The refresh token is invalid: the session is over.
                 *     - `recent_sign_in_required`: This needs a recent sign-in; a refresh does not count.
                 */
                "X-Error-Reason": components["schemas"]["UnauthorizedReason"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "unauthorized",
                 *         "message": "The access token or API key is invalid, expired or revoked."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The resource does not exist or is not visible to the caller. */
        not_found: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "not_found",
                 *         "message": "There is no such sound."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description Too many requests. Wait as many seconds as `Retry-After` says. */
        rate_limited: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                /**
                 * @description The reason, in a word for programs.
                 *     - `limit_requests`: Too many requests.
                 *     - `limit_attempts`: Too many attempts to sign up or in, or to enter a code or password.
                 *     - `limit_mails`: Too many mails.
                 */
                "X-Error-Reason": components["schemas"]["RateLimitedReason"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "rate_limited",
                 *         "message": "Too many requests. Wait as many seconds as Retry-After says."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description Server-side failure; safe to retry with backoff unless the endpoint says otherwise. It says nothing about the credential. */
        server_error: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "server_error",
                 *         "message": "The service could not answer. Try again, with increasing delays."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
    };
    parameters: {
        /** @description The `ETag` of the copy that the client has. */
        IfNoneMatch: string;
    };
    requestBodies: never;
    headers: {
        /** @description Identifies this request in the log of the service. A valid id that you send is kept. */
        "X-Request-Id": string;
        /** @description Requests allowed in the window. */
        "X-RateLimit-Limit": number;
        /** @description Requests left in the window. */
        "X-RateLimit-Remaining": number;
        /** @description Unix time at which the window resets. */
        "X-RateLimit-Reset": number;
        /** @description Seconds to wait before the next request. */
        "Retry-After": number;
        /** @description Contains `error="invalid_token"` when a credential was sent and rejected. */
        "WWW-Authenticate": string;
        /** @description Identifies this version of the response, for `If-None-Match`. */
        ETag: string;
        /** @description The name under which the answer is to be saved. */
        "Content-Disposition": string;
        /** @description The field of the body, the parameter of the query or the header in which the fault lies, where it lies in one. */
        "X-Error-Field": components["schemas"]["ErrorField"];
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getConfig: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the copy that the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigResponse"];
                };
            };
            /** @description The copy that `If-None-Match` identifies is still current. No body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    signUp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignUpRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignUpResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    refresh: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefreshRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefreshResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OkResponse"];
                };
            };
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    exchangeIdToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExchangeIdTokenRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    exchangeGoogleIdToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExchangeIdTokenRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    exchangeAppleIdToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExchangeIdTokenRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    recover: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoverRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OkResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    resend: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResendRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OkResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    verify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePasswordRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OkResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    listSounds: {
        parameters: {
            query?: {
                /** @description Only sounds of the category with this slug, a parent intention or a sub-intention. */
                category?: string;
                /** @description With a parent intention as `category`: also sounds of its sub-intentions. */
                include_children?: boolean;
                /** @description true: only featured sounds. false: only sounds that are not. */
                featured?: boolean;
                /** @description Only sounds whose title contains this text, ignoring case and accents. A blank value is ignored. */
                search?: string;
                /** @description Page size. */
                limit?: number;
                /** @description The `next_cursor` of the previous page: an ISO 8601 date-time of the years 1970 to 9999 in any spelling. */
                cursor?: string;
            };
            header?: {
                /** @description The `ETag` of the copy that the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SoundListResponse"];
                };
            };
            /** @description The copy that `If-None-Match` identifies is still current. No body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    getSound: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the sound. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SoundResponse"];
                };
            };
            401: components["responses"]["unauthorized"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    countPlay: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the sound. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlayCountResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    countPlays: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlaysRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlayResultListResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    listHistory: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description The `ETag` of the copy that the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryListResponse"];
                };
            };
            /** @description The copy that `If-None-Match` identifies is still current. No body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    clearHistory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OkResponse"];
                };
            };
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    removeFromHistory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the sound. */
                soundId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OkResponse"];
                };
            };
            401: components["responses"]["unauthorized"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    listFavorites: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the copy that the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FavoriteListResponse"];
                };
            };
            /** @description The copy that `If-None-Match` identifies is still current. No body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    addFavorite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddFavoriteRequest"];
            };
        };
        responses: {
            /** @description Success. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OkResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    removeFavorite: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the sound. */
                soundId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OkResponse"];
                };
            };
            401: components["responses"]["unauthorized"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    getProfile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileResponse"];
                };
            };
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    deleteAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OkResponse"];
                };
            };
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    exportAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportResponse"];
                };
            };
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    getCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomerResponse"];
                };
            };
            401: components["responses"]["unauthorized"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    updateCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateCustomerRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateCustomerResponse"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["unauthorized"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    getHome: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the copy that the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HomeResponse"];
                };
            };
            /** @description The copy that `If-None-Match` identifies is still current. No body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
    listCategories: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the copy that the client has. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CategoryListResponse"];
                };
            };
            /** @description The copy that `If-None-Match` identifies is still current. No body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["unauthorized"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["server_error"];
        };
    };
}
