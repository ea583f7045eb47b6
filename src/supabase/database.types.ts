
export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[]

export type Database = {
  
  "public": {
          Tables: {
            "app_settings": {
                  Row: {
                    "key": string,"value": NonNullable<Json>
                  }
                  ComputedFields: never
                  Insert: {
                    "key": string,"value": NonNullable<Json>
                  }
                  Update: {
                    "key"?: string,"value"?: NonNullable<Json>
                  }
                  Relationships: [
                    
                  ]
                },"categories": {
                  Row: {
                    "created_at": string,"deleted_at": string | null,"description": string | null,"id": string,"is_active": boolean,"name": string,"parent_id": string | null,"slug": string,"sort_order": number,"updated_at": string
                  }
                  ComputedFields: never
                  Insert: {
                    "created_at"?: string,"deleted_at"?: string | null,"description"?: string | null,"id"?: string,"is_active"?: boolean,"name": string,"parent_id"?: string | null,"slug": string,"sort_order"?: number,"updated_at"?: string
                  }
                  Update: {
                    "created_at"?: string,"deleted_at"?: string | null,"description"?: string | null,"id"?: string,"is_active"?: boolean,"name"?: string,"parent_id"?: string | null,"slug"?: string,"sort_order"?: number,"updated_at"?: string
                  }
                  Relationships: [
                    {
      foreignKeyName: "category_parent_exists_and_has_no_children_when_deleted"
      columns: ["parent_id"]
isOneToOne: false
      referencedRelation: "categories"
      referencedColumns: ["id"]
    }
                  ]
                },"customers": {
                  Row: {
                    "avatar_url": string | null,"country": string | null,"created_at": string,"email": string | null,"full_name": string | null,"id": string,"is_active": boolean,"is_guest": boolean,"last_seen_at": string | null,"locale": string | null,"marketing_opt_in": boolean,"marketing_opt_in_at": string | null,"phone": string | null,"premium_as_of": string | null,"premium_given_until": string | null,"premium_until": string | null,"provider": string | null,"source": string | null,"updated_at": string
                  }
                  ComputedFields: never
                  Insert: {
                    "avatar_url"?: string | null,"country"?: string | null,"created_at"?: string,"email"?: string | null,"full_name"?: string | null,"id": string,"is_active"?: boolean,"is_guest"?: boolean,"last_seen_at"?: string | null,"locale"?: string | null,"marketing_opt_in"?: boolean,"marketing_opt_in_at"?: string | null,"phone"?: string | null,"premium_as_of"?: string | null,"premium_given_until"?: string | null,"premium_until"?: string | null,"provider"?: string | null,"source"?: string | null,"updated_at"?: string
                  }
                  Update: {
                    "avatar_url"?: string | null,"country"?: string | null,"created_at"?: string,"email"?: string | null,"full_name"?: string | null,"id"?: string,"is_active"?: boolean,"is_guest"?: boolean,"last_seen_at"?: string | null,"locale"?: string | null,"marketing_opt_in"?: boolean,"marketing_opt_in_at"?: string | null,"phone"?: string | null,"premium_as_of"?: string | null,"premium_given_until"?: string | null,"premium_until"?: string | null,"provider"?: string | null,"source"?: string | null,"updated_at"?: string
                  }
                  Relationships: [
                    
                  ]
                },"favorites": {
                  Row: {
                    "created_at": string,"sound_id": string,"user_id": string
                  }
                  ComputedFields: never
                  Insert: {
                    "created_at"?: string,"sound_id": string,"user_id"?: string
                  }
                  Update: {
                    "created_at"?: string,"sound_id"?: string,"user_id"?: string
                  }
                  Relationships: [
                    {
      foreignKeyName: "favorites_sound_id_fkey"
      columns: ["sound_id"]
isOneToOne: false
      referencedRelation: "sounds"
      referencedColumns: ["id"]
    }
                  ]
                },"history": {
                  Row: {
                    "last_played_at": string,"plays": number,"sound_id": string,"user_id": string
                  }
                  ComputedFields: never
                  Insert: {
                    "last_played_at": string,"plays": number,"sound_id": string,"user_id": string
                  }
                  Update: {
                    "last_played_at"?: string,"plays"?: number,"sound_id"?: string,"user_id"?: string
                  }
                  Relationships: [
                    
                  ]
                },"home_section_sounds": {
                  Row: {
                    "position": number,"section_id": string,"sound_id": string
                  }
                  ComputedFields: never
                  Insert: {
                    "position": number,"section_id": string,"sound_id": string
                  }
                  Update: {
                    "position"?: number,"section_id"?: string,"sound_id"?: string
                  }
                  Relationships: [
                    {
      foreignKeyName: "home_section_sounds_section_id_fkey"
      columns: ["section_id"]
isOneToOne: false
      referencedRelation: "home_sections"
      referencedColumns: ["id"]
    },{
      foreignKeyName: "home_section_sounds_sound_id_fkey"
      columns: ["sound_id"]
isOneToOne: false
      referencedRelation: "sounds"
      referencedColumns: ["id"]
    }
                  ]
                },"home_sections": {
                  Row: {
                    "created_at": string,"deleted_at": string | null,"id": string,"is_active": boolean,"item_limit": number,"mode": string,"rule_include_children": boolean,"rule_type": string | null,"rule_value": string | null,"slug": string,"sort_order": number,"title": string,"updated_at": string
                  }
                  ComputedFields: never
                  Insert: {
                    "created_at"?: string,"deleted_at"?: string | null,"id"?: string,"is_active"?: boolean,"item_limit"?: number,"mode"?: string,"rule_include_children"?: boolean,"rule_type"?: string | null,"rule_value"?: string | null,"slug": string,"sort_order"?: number,"title": string,"updated_at"?: string
                  }
                  Update: {
                    "created_at"?: string,"deleted_at"?: string | null,"id"?: string,"is_active"?: boolean,"item_limit"?: number,"mode"?: string,"rule_include_children"?: boolean,"rule_type"?: string | null,"rule_value"?: string | null,"slug"?: string,"sort_order"?: number,"title"?: string,"updated_at"?: string
                  }
                  Relationships: [
                    {
      foreignKeyName: "rule_value_is_the_slug_of_an_existing_category"
      columns: ["rule_value"]
isOneToOne: false
      referencedRelation: "categories"
      referencedColumns: ["slug"]
    }
                  ]
                },"imported_files": {
                  Row: {
                    "audio_checksum": string,"checksum": string,"facts": NonNullable<Json>,"outdated": Json | null,"version": number
                  }
                  ComputedFields: never
                  Insert: {
                    "audio_checksum": string,"checksum": string,"facts": NonNullable<Json>,"outdated"?: Json | null,"version"?: number
                  }
                  Update: {
                    "audio_checksum"?: string,"checksum"?: string,"facts"?: NonNullable<Json>,"outdated"?: Json | null,"version"?: number
                  }
                  Relationships: [
                    
                  ]
                },"imported_sounds": {
                  Row: {
                    "checksum": string | null,"fields": NonNullable<Json>,"places": NonNullable<Json>,"said": NonNullable<Json>,"sound_id": string
                  }
                  ComputedFields: never
                  Insert: {
                    "checksum"?: string | null,"fields": NonNullable<Json>,"places"?: NonNullable<Json>,"said"?: NonNullable<Json>,"sound_id": string
                  }
                  Update: {
                    "checksum"?: string | null,"fields"?: NonNullable<Json>,"places"?: NonNullable<Json>,"said"?: NonNullable<Json>,"sound_id"?: string
                  }
                  Relationships: [
                    
                  ]
                },"imports": {
                  Row: {
                    "sheet": boolean,"source": string,"started_at": string | null
                  }
                  ComputedFields: never
                  Insert: {
                    "sheet"?: boolean,"source": string,"started_at"?: string | null
                  }
                  Update: {
                    "sheet"?: boolean,"source"?: string,"started_at"?: string | null
                  }
                  Relationships: [
                    
                  ]
                },"lists": {
                  Row: {
                    "id": string,"is_mix": boolean,"items": NonNullable<Json>,"name": string,"updated_at": string,"user_id": string,"version": number
                  }
                  ComputedFields: never
                  Insert: {
                    "id": string,"is_mix": boolean,"items": NonNullable<Json>,"name": string,"updated_at"?: string,"user_id": string,"version"?: number
                  }
                  Update: {
                    "id"?: string,"is_mix"?: boolean,"items"?: NonNullable<Json>,"name"?: string,"updated_at"?: string,"user_id"?: string,"version"?: number
                  }
                  Relationships: [
                    
                  ]
                },"play_counts": {
                  Row: {
                    "plays": number,"sound_id": string
                  }
                  ComputedFields: never
                  Insert: {
                    "plays"?: number,"sound_id": string
                  }
                  Update: {
                    "plays"?: number,"sound_id"?: string
                  }
                  Relationships: [
                    {
      foreignKeyName: "play_counts_sound_id_fkey"
      columns: ["sound_id"]
isOneToOne: true
      referencedRelation: "sounds"
      referencedColumns: ["id"]
    }
                  ]
                },"progress": {
                  Row: {
                    "position_sec": number | null,"sound_id": string,"updated_at": string,"user_id": string
                  }
                  ComputedFields: never
                  Insert: {
                    "position_sec"?: number | null,"sound_id": string,"updated_at": string,"user_id": string
                  }
                  Update: {
                    "position_sec"?: number | null,"sound_id"?: string,"updated_at"?: string,"user_id"?: string
                  }
                  Relationships: [
                    {
      foreignKeyName: "progress_sound_id_fkey"
      columns: ["sound_id"]
isOneToOne: false
      referencedRelation: "sounds"
      referencedColumns: ["id"]
    }
                  ]
                },"sounds": {
                  Row: {
                    "audio_path": string | null,"bowl_note": string | null,"category": string | null,"cover_image_path": string | null,"cover_placeholder": string | null,"created_at": string,"deleted_at": string | null,"description": string | null,"duration_sec": number | null,"frequency_hz": number | null,"id": string,"is_active": boolean,"is_featured": boolean,"is_premium": boolean,"list_rank": number,"loudness_lufs": number | null,"search_title": string,"search_vector": unknown,"sort_order": number,"tags": (string)[] | null,"title": string,"true_peak_dbtp": number | null,"updated_at": string,"waveform": (number)[] | null
                  }
                  ComputedFields: never
                  Insert: {
                    "audio_path"?: string | null,"bowl_note"?: string | null,"category"?: string | null,"cover_image_path"?: string | null,"cover_placeholder"?: string | null,"created_at"?: string,"deleted_at"?: string | null,"description"?: string | null,"duration_sec"?: number | null,"frequency_hz"?: number | null,"id"?: string,"is_active"?: boolean,"is_featured"?: boolean,"is_premium"?: boolean,"list_rank"?: never,"loudness_lufs"?: number | null,"search_title"?: never,"search_vector"?: never,"sort_order"?: number,"tags"?: (string)[] | null,"title": string,"true_peak_dbtp"?: number | null,"updated_at"?: string,"waveform"?: (number)[] | null
                  }
                  Update: {
                    "audio_path"?: string | null,"bowl_note"?: string | null,"category"?: string | null,"cover_image_path"?: string | null,"cover_placeholder"?: string | null,"created_at"?: string,"deleted_at"?: string | null,"description"?: string | null,"duration_sec"?: number | null,"frequency_hz"?: number | null,"id"?: string,"is_active"?: boolean,"is_featured"?: boolean,"is_premium"?: boolean,"list_rank"?: never,"loudness_lufs"?: number | null,"search_title"?: never,"search_vector"?: never,"sort_order"?: number,"tags"?: (string)[] | null,"title"?: string,"true_peak_dbtp"?: number | null,"updated_at"?: string,"waveform"?: (number)[] | null
                  }
                  Relationships: [
                    {
      foreignKeyName: "category_is_the_slug_of_an_existing_category"
      columns: ["category"]
isOneToOne: false
      referencedRelation: "categories"
      referencedColumns: ["slug"]
    }
                  ]
                }
          }
          Views: {
            [_ in never]: never
          }
          Functions: {
            "add_favorite":
{ Args: { "sound": string }; Returns: boolean
                           },
"adopt_guest":
{ Args: { "guest": string,"owner": string }; Returns: boolean
                           },
"as_api_key":
{ Args: { "arguments"?: Json,"key_hash": string,"operation": string }; Returns: Json
                           },
"clear_history":
{ Args: Record<PropertyKey, never>; Returns: boolean
                           },
"count_play":
{ Args: { "idempotency_key"?: string,"player"?: string,"sound": string,"with_api_key"?: boolean }; Returns: Json
                           },
"count_plays":
{ Args: { "player"?: string,"plays": Json,"with_api_key"?: boolean }; Returns: Json
                           },
"doctor_issue_key":
{ Args: { "account": string }; Returns: string
                           },
"doctor_report":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"doctor_revoke_keys":
{ Args: { "account": string }; Returns: number
                           },
"doctor_session_addresses":
{ Args: { "account": string }; Returns: Json
                           },
"end_sessions":
{ Args: { "ended_session"?: string }; Returns: boolean
                           },
"export_account":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"get_app_settings":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"get_customer":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"get_sound":
{ Args: { "sound": string }; Returns: Json
                           },
"list_catalogue_changes":
{ Args: { "filters"?: Json }; Returns: Json
                           },
"list_categories":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"list_favorites":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"list_history":
{ Args: { "before_moment"?: string,"before_sound"?: string,"page_size"?: number }; Returns: Json
                           },
"list_home_sections":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"list_lists":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"list_progress":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"list_sessions":
{ Args: Record<PropertyKey, never>; Returns: Json
                           },
"list_sound_files":
{ Args: { "wanted": Json }; Returns: Json
                           },
"list_sounds":
{ Args: { "filters"?: Json }; Returns: Json
                           },
"missing_functions":
{ Args: { "needed": (string)[] }; Returns: (string)[]
                           },
"remove_favorite":
{ Args: { "sound": string }; Returns: boolean
                           },
"remove_from_history":
{ Args: { "sound": string }; Returns: boolean
                           },
"replica_lag_seconds":
{ Args: Record<PropertyKey, never>; Returns: number
                           },
"save_lists":
{ Args: { "lists": Json }; Returns: Json
                           },
"save_progress":
{ Args: { "entries": Json }; Returns: Json
                           },
"set_premium":
{ Args: { "as_of"?: string,"customer_id": string,"premium_until": string }; Returns: boolean
                           },
"touch_last_seen":
{ Args: Record<PropertyKey, never>; Returns: boolean
                           },
"update_customer":
{ Args: { "changes": Json }; Returns: Json
                           },
"validate_sounds":
{ Args: { "sounds": Json }; Returns: Json
                           }
          }
          Enums: {
            [_ in never]: never
          }
          CompositeTypes: {
            [_ in never]: never
          }
        }
}

type DatabaseWithoutInternals = Omit<Database, '__InternalSupabase'>

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, "public">]

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema["Tables"] & DefaultSchema["Views"])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
        DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])
    : never = never
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
      DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])[TableName] extends {
      Row: infer R
    }
    ? R
    : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema["Tables"] & DefaultSchema["Views"])
  ? (DefaultSchema["Tables"] & DefaultSchema["Views"])[DefaultSchemaTableNameOrOptions] extends {
      Row: infer R
    }
    ? R
    : never
  : never

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never = never
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Insert: infer I
    }
    ? I
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
  ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
      Insert: infer I
    }
    ? I
    : never
  : never

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never = never
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Update: infer U
    }
    ? U
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
  ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
      Update: infer U
    }
    ? U
    : never
  : never

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema["Enums"]
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"]
    : never = never
> = DefaultSchemaEnumNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema["Enums"]
  ? DefaultSchema["Enums"][DefaultSchemaEnumNameOrOptions]
  : never

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema["CompositeTypes"]
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"]
    : never = never
> = PublicCompositeTypeNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"][CompositeTypeName]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema["CompositeTypes"]
  ? DefaultSchema["CompositeTypes"][PublicCompositeTypeNameOrOptions]
  : never

export const Constants = {
  "public": {
          Enums: {
            
          }
        }
} as const
